// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/overview.h"

#include "app/analysis/overview_parts.h"

namespace fp8scope::analysis {

std::string plainText(const std::vector<TextSpan>& spans)
{
    std::string text;
    for (const TextSpan& span : spans)
        text += span.text;
    while (text.ends_with(' '))
        text.pop_back();
    return text;
}

Overview overview(const Trace& trace, StepLimit limit)
{
    Overview o;
    o.runs = breakdowns(trace, limit);
    o.accounts = accounts(trace, o.runs);
    o.ablation = ablation(trace, limit);
    if (o.ablation)
        o.ablationAccount = asAccount(trace, *o.ablation);
    o.headline = headline(trace, o.runs, o.accounts);
    o.note = deviceNote(trace, o.runs);
    o.figures = figures(trace, o.runs, o.accounts);
    o.honesty = honesty(trace, o.runs);
    o.findings = advise({trace, o.runs, o.accounts});
    return o;
}

}  // namespace fp8scope::analysis

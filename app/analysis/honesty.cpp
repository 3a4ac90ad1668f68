// SPDX-License-Identifier: Apache-2.0
// What a reader must know to trust the figures: where they come from, what was left out, what was lost.
#include "app/analysis/framework.h"
#include "app/analysis/overview_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace fp8scope::analysis {
namespace {

/// The run's place among those that repeat it, from 1.
std::uint32_t repeatNumber(const Trace& trace, RunId id)
{
    std::uint32_t number = 0;
    for (std::uint32_t r = 0; r <= id.value; ++r)
        number += trace.runs[r].mode == trace.run(id).mode && trace.runs[r].configToml == trace.run(id).configToml;
    return number;
}

/// "steps 4 to 40 of 40, first 3 warm-up": positions in the run, from 1.
std::string stepsOfRun(const Trace& trace, const Breakdown& run)
{
    const StepSummary& s = run.steps;
    if (s.empty())
        return fmt::format("no step used of {}", s.totalCount);
    std::uint32_t before = 0;
    for (const Step& step : trace.steps)
        before += step.run == run.run && step.durNs > 0 && step.startNs < s.used.front().startNs ? 1 : 0;
    const std::size_t last = before + s.used.size();
    std::string text = s.used.size() == 1 ? fmt::format("step {} of {}", before + 1, s.totalCount)
                                          : fmt::format("steps {} to {} of {}", before + 1, last, s.totalCount);
    if (s.warmupCount > 0)
        text += fmt::format(", first {} warm-up", s.warmupCount);
    if (s.repeats > 1)
        text += fmt::format(" (repeat {} of {})", repeatNumber(trace, run.run), s.repeats);
    return text;
}

/// One text where all runs agree, else one a run.
std::string stepsOfRuns(const Trace& trace, const std::vector<Breakdown>& runs)
{
    std::vector<std::string> texts;
    for (const Breakdown& run : runs)
        texts.push_back(stepsOfRun(trace, run));
    if (texts.empty())
        return "no runs";
    if (std::all_of(texts.begin(), texts.end(), [&](const std::string& t) { return t == texts.front(); }))
        return texts.front();
    std::string all;
    for (std::size_t i = 0; i < texts.size(); ++i)
        all += fmt::format("{}{}: {}", i == 0 ? "" : "; ", runs[i].mode, texts[i]);
    return all;
}

/// "classified 93% (60% by op, 33% by name)"; of engine runs, whose ops know what they are, "classified 100% (engine
/// ops)".
std::string classifiedText(const Trace& trace, const std::vector<Breakdown>& runs)
{
    const auto least = std::min_element(runs.begin(), runs.end(), [](const Breakdown& a, const Breakdown& b) {
        return (a.stepNs > 0 ? a.classifiedShare : 1) < (b.stepNs > 0 ? b.classifiedShare : 1);
    });
    const double share = least == runs.end() || least->stepNs == 0 ? 1 : least->classifiedShare;
    const std::string text = fmt::format("classified {:.{}f}%", 100 * share, share < 1 && share > 0.99 ? 1 : 0);
    if (least == runs.end() || least->origin != Origin::Imported)
        return text + (trace.ops.empty() ? "" : " (engine ops)");
    const std::string evidence = classifiedBy(*least);
    return evidence.empty() ? text : fmt::format("{} ({})", text, evidence);
}

void addLosses(const Trace& trace, Honesty& honesty)
{
    std::vector<std::string> losses;
    if (!trace.complete)
        losses.emplace_back("the file was not finished");
    for (const Run& run : trace.runs) {
        if (!run.complete)
            losses.push_back(fmt::format("{} is incomplete{}{}", run.mode, run.note.empty() ? "" : ": ", run.note));
    }
    for (const Diagnostic& d : trace.diagnostics) {
        if (d.severity != Severity::Info)
            losses.push_back(d.text.empty() ? fmt::format("{}: {}", d.name, d.count) : d.text);
    }
    honesty.lossy = !losses.empty();
    honesty.losses = losses.empty() ? "no records lost" : fmt::format("{}", fmt::join(losses, "; "));
}

}  // namespace

std::string classifiedBy(const Breakdown& run)
{
    const std::int64_t busy = std::accumulate(run.classifiedNs.begin(), run.classifiedNs.end(), std::int64_t{0});
    static constexpr std::array<std::string_view, kClassifiedByCount> kWords{"by op", "by operand types", "by name",
                                                                             "unknown"};
    std::string text;
    for (std::size_t i = 0; i < kWords.size(); ++i) {
        if (run.classifiedNs[i] > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                                formatPercent(static_cast<double>(run.classifiedNs[i]) / static_cast<double>(busy)),
                                kWords[i]);
    }
    return text;
}

Honesty honesty(const Trace& trace, const std::vector<Breakdown>& runs)
{
    Honesty honesty;
    if (const Breakdown* focus = focusRun(runs))
        honesty.origin = focus->origin;
    else if (!trace.runs.empty())
        honesty.origin = trace.runs.front().origin;
    honesty.steps = stepsOfRuns(trace, runs);
    honesty.statistic = std::any_of(runs.begin(), runs.end(), [](const Breakdown& b) { return b.steps.repeats > 1; })
                            ? "median over repeats, 95% bootstrap interval"
                            : "median, 95% interval";
    honesty.classified = classifiedText(trace, runs);
    if (!runs.empty() && runs.front().origin == Origin::Imported)
        honesty.framework =
            describe(detectFramework(trace, focusRun(runs) != nullptr ? focusRun(runs)->run : runs.front().run));
    addLosses(trace, honesty);
    return honesty;
}

}  // namespace fp8scope::analysis

// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/numerics_watch.h"

#include <fmt/format.h>

namespace fp8scope::worker {

void NumericsWatch::see(const cpu::StepResult& result, std::uint32_t step, bool warmup)
{
    if (warmup)
        return;
    for (std::size_t t = 0; t < result.quantized.size(); ++t) {
        const cpu::QuantizationStat& stat = result.quantized[t];
        if (stat.count == 0)
            continue;
        const auto count = static_cast<double>(stat.count);
        note(m_saturation, static_cast<double>(stat.saturated) / count, kSaturationLimit, t, step);
        note(m_underflow, static_cast<double>(stat.underflowed) / count, kUnderflowLimit, t, step);
    }
}

void NumericsWatch::note(Excess& excess, double share, double limit, std::size_t tensor, std::uint32_t step)
{
    if (share <= limit)
        return;
    ++excess.count;
    if (share > excess.worst)
        excess = {.count = excess.count, .worst = share, .tensor = tensor, .step = step};
}

std::vector<wire::Diagnostic> NumericsWatch::diagnostics() const
{
    std::vector<wire::Diagnostic> all;
    if (m_saturation.count > 0)
        all.push_back(diagnostic(m_saturation, "saturation", "saturated", kSaturationLimit));
    if (m_underflow.count > 0)
        all.push_back(diagnostic(m_underflow, "underflow", "became zero", kUnderflowLimit));
    return all;
}

wire::Diagnostic NumericsWatch::diagnostic(const Excess& excess, const char* name, const char* what, double limit) const
{
    return {.name = name,
            .severity = Severity::Info,
            .count = excess.count,
            .text =
                fmt::format("{}: over {:.3g}% of a tensor's elements {} in a step, at worst {:.3g}% of {} in step {}",
                            m_plan.settings.mode, 100 * limit, what, 100 * excess.worst,
                            m_plan.quantized[excess.tensor].name, excess.step)};
}

}  // namespace fp8scope::worker

// SPDX-License-Identifier: Apache-2.0
// Note: every fp8 run is slower than the 16-bit one. On a device without FP8 units that is no tuning problem.
#include "app/analysis/overview.h"
#include "app/analysis/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace fp8scope::analysis::rules {

std::vector<Finding> stayOnBf16(const AdviceInput& in)
{
    const SpeedupAccount* best = nullptr;
    for (const SpeedupAccount& a : in.accounts) {
        const bool isFp8 = std::any_of(in.runs.begin(), in.runs.end(),
                                       [&](const Breakdown& b) { return b.run == a.to && !isSixteenBit(b); });
        if (isFp8 && (best == nullptr || a.toNs < best->toNs))
            best = &a;
    }
    if (best == nullptr || best->withinNoise || best->toNs <= best->fromNs)
        return {};
    const Device* device = deviceOf(in.trace, best->to);
    const bool noUnits = device != nullptr && !device->hasFp8;
    const std::string_view kind = device != nullptr && device->kind == "cpu" ? "CPU" : "GPU";
    const std::string lost = formatTime(best->toNs - best->fromNs);

    Finding f{.rule = "stay-on-bf16", .run = best->to};
    f.title = noUnits
                  ? fmt::format("Stay on {} on this {}: it has no FP8 units", best->fromMode, kind)
                  : fmt::format("Stay on {} for this model as it is: fp8 takes {} a step longer", best->fromMode, lost);
    f.why =
        noUnits
            ? fmt::format(
                  "The fastest fp8 run takes {} a step longer. Advice about fp8 modes here is about that cost, which "
                  "only a device with FP8 units can earn back.",
                  lost)
            : "No fp8 run here earns back what quantization and the rest cost; see what to change first.";
    f.formula = "a verdict, not a gain: the runs are measured as they are";
    f.wrongIf =
        noUnits ? "the training will run on another device" : "the advice above is followed, or the shapes grow";
    f.evidence.push_back({.text = fmt::format("{} {} a step, {} {} a step", best->fromMode, formatTime(best->fromNs),
                                              best->toMode, formatTime(best->toNs))});
    return {std::move(f)};
}

}  // namespace fp8scope::analysis::rules

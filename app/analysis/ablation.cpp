// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/ablation.h"

#include "app/analysis/overview.h"
#include "collector/trace/error.h"
#include "engine/plan/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace fp8scope::analysis {
namespace {

using plan::Fusions;
using plan::FusionSwitch;

/// A mode's runs and what it switches on.
struct Variant {
    RunGroup group;
    bool fp8 = false;
    Fusions fusions;
};

std::optional<Variant> variantOf(const Trace& trace, RunGroup group)
{
    const std::string& toml = trace.run(group.runs.front()).configToml;
    if (toml.empty() || group.steps.empty())
        return {};
    try {
        const plan::ModeSettings settings = plan::settingsFor(plan::parseConfig(toml, "trace"), group.mode);
        return Variant{.group = std::move(group), .fp8 = settings.fp8, .fusions = settings.fusions};
    } catch (const Error&) {
        return {};  // of another version, or an importer's
    }
}

/// Switches that the run found to change nothing: the fused mode has them on, the chain does not.
Fusions withoutSkipped(Fusions fusions, const std::string& skipped)
{
    for (const FusionSwitch& fusion : plan::fusionSwitches()) {
        const std::string name = std::string(fusion.name) + ":";
        if (skipped.starts_with(name) || skipped.find("; " + name) != std::string::npos)
            fusions.*fusion.member = false;
    }
    return fusions;
}

std::string skippedOf(const Trace& trace)
{
    const auto skipped = trace.meta.find(kAblationSkippedKey);
    return skipped == trace.meta.end() ? std::string() : skipped->second;
}

/// Those that share the first one's configuration: modes of two files that were merged are not one ablation.
std::vector<Variant> variantsOf(const Trace& trace, StepLimit limit)
{
    std::vector<Variant> variants;
    for (RunGroup& group : runGroups(trace, limit)) {
        const std::string& toml = trace.run(group.runs.front()).configToml;
        if (!variants.empty() && trace.run(variants.front().group.runs.front()).configToml != toml)
            continue;
        if (auto variant = variantOf(trace, std::move(group))) {
            variant->fusions = withoutSkipped(variant->fusions, skippedOf(trace));
            variants.push_back(std::move(*variant));
        }
    }
    return variants;
}

const Variant* find(const std::vector<Variant>& variants, const Fusions& fusions)
{
    const auto found =
        std::find_if(variants.begin(), variants.end(), [&](const Variant& v) { return v.fp8 && v.fusions == fusions; });
    return found == variants.end() ? nullptr : &*found;
}

AblationStep stepOf(const Variant& variant)
{
    const StepSummary& s = variant.group.steps;
    return {variant.group.mode, s.medianNs, s.interval, s.repeats, s.run};
}

Fusions with(Fusions fusions, const FusionSwitch& fusion, bool on)
{
    fusions.*fusion.member = on;
    return fusions;
}

/// The smallest mode with the fusion whose twin without it was run too.
void addAlone(const std::vector<Variant>& variants, const FusionSwitch& fusion, AblationLink& link)
{
    const auto count = [](const Fusions& f) {
        const auto& all = plan::fusionSwitches();
        return std::count_if(all.begin(), all.end(), [&](const FusionSwitch& s) { return f.*s.member; });
    };
    const Variant* smallest = nullptr;
    for (const Variant& v : variants) {
        const bool counts =
            v.fp8 && v.fusions.*fusion.member && find(variants, with(v.fusions, fusion, false)) != nullptr;
        if (counts && (smallest == nullptr || count(v.fusions) < count(smallest->fusions)))
            smallest = &v;
    }
    if (smallest == nullptr)
        return;
    for (const FusionSwitch& other : plan::fusionSwitches()) {
        if (other.name != fusion.name && smallest->fusions.*other.member)
            link.needs.emplace_back(other.name);
    }
    link.alone = stepDifference(find(variants, with(smallest->fusions, fusion, false))->group, smallest->group);
}

std::string explanation(const AblationLink& link)
{
    const auto ns = [](double value) { return (value < 0 ? "−" : "+") + formatTime(std::llround(std::abs(value))); };
    std::string text = fmt::format("{} to {}", ns(link.difference.interval.low), ns(link.difference.interval.high));
    if (link.difference.withinNoise())
        text += ", within the noise";
    if (link.alone)
        text += fmt::format("; alone {} ({} to {}{})", ns(link.alone->deltaNs), ns(link.alone->interval.low),
                            ns(link.alone->interval.high),
                            link.needs.empty() ? "" : fmt::format("; with {}", fmt::join(link.needs, " and ")));
    return text;
}

}  // namespace

SpeedupAccount asAccount(const Trace& trace, const Ablation& ablation)
{
    SpeedupAccount account{.from = ablation.plain.run,
                           .to = ablation.last().run,
                           .fromMode = ablation.plain.mode,
                           .toMode = ablation.last().mode,
                           .fromNs = ablation.plain.stepNs,
                           .toNs = ablation.last().stepNs};
    std::int64_t levelNs = account.fromNs;
    for (const AblationLink& link : ablation.chain) {
        account.bars.push_back({link.fusion, link.with.stepNs - levelNs, explanation(link)});
        levelNs = link.with.stepNs;
    }
    account.idealGemmRatio = idealGemmRatio(trace, account.to);
    account.speedup = static_cast<double>(account.fromNs) / static_cast<double>(account.toNs);
    const Interval& from = ablation.plain.interval;
    const Interval& to = ablation.last().interval;
    account.speedupInterval = {to.high > 0 ? from.low / to.high : 0, to.low > 0 ? from.high / to.low : 0};
    account.withinNoise = from.low <= to.high && to.low <= from.high;
    return account;
}

std::optional<Ablation> ablation(const Trace& trace, StepLimit limit)
{
    const std::vector<Variant> variants = variantsOf(trace, limit);
    const Variant* current = find(variants, Fusions{});
    if (current == nullptr)
        return {};
    Ablation result{.bf16 = {}, .plain = stepOf(*current), .fp8Against16 = {}, .chain = {}, .skipped = {}};
    const auto baseline = std::find_if(variants.begin(), variants.end(), [](const Variant& v) { return !v.fp8; });
    if (baseline != variants.end()) {
        result.bf16 = stepOf(*baseline);
        result.fp8Against16 = stepDifference(baseline->group, current->group);
    }
    for (const FusionSwitch& fusion : plan::fusionSwitches()) {
        const Variant* next = find(variants, with(current->fusions, fusion, true));
        if (next == nullptr || next == current)
            continue;
        AblationLink link{.fusion = std::string(fusion.name),
                          .with = stepOf(*next),
                          .difference = stepDifference(current->group, next->group),
                          .needs = {},
                          .alone = {}};
        addAlone(variants, fusion, link);
        result.chain.push_back(std::move(link));
        current = next;
    }
    if (result.chain.empty())
        return {};
    result.skipped = skippedOf(trace);
    return result;
}

}  // namespace fp8scope::analysis

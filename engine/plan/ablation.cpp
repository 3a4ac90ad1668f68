// SPDX-License-Identifier: Apache-2.0
// Which fusions need which others is known to settingsFor alone: combinations are tried, and what it refuses is left.
#include "engine/plan/ablation.h"

#include "collector/trace/error.h"
#include "engine/plan/step_plan.h"

#include <algorithm>
#include <optional>

namespace fp8scope::plan {
namespace {

using Switches = std::vector<const FusionSwitch*>;  // in the order of fusionSwitches()

std::string modeOf(const Switches& fusions)
{
    std::string mode = "fp8";
    for (const FusionSwitch* fusion : fusions)
        mode += "+" + std::string(fusion->name);
    return mode;
}

Switches with(Switches fusions, const FusionSwitch& added)
{
    fusions.push_back(&added);
    return fusions;
}

Switches without(Switches fusions, const FusionSwitch* dropped)
{
    std::erase(fusions, dropped);
    return fusions;
}

bool legal(const MlpConfig& config, const Switches& fusions)
{
    try {
        (void)settingsFor(config, modeOf(fusions));
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Two plans that run the same kernels take the same time, whatever their switches say.
bool sameOps(const StepPlan& a, const StepPlan& b)
{
    return std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(), [](const Op& x, const Op& y) {
        return x.kind == y.kind && x.name == y.name && x.fused.bits() == y.fused.bits() && x.bytes == y.bytes &&
               x.inputs.size() == y.inputs.size() && x.outputs.size() == y.outputs.size();
    });
}

/// The fewest of `before` with which `fusion` is legal, and itself.
Switches needed(const MlpConfig& config, const Switches& before, const FusionSwitch& fusion)
{
    Switches set = before;
    for (auto dropped = before.rbegin(); dropped != before.rend(); ++dropped) {
        const Switches fewer = without(set, *dropped);
        if (legal(config, with(fewer, fusion)))
            set = fewer;
    }
    return with(set, fusion);
}

class Builder {
public:
    explicit Builder(const MlpConfig& config) : m_config(config), m_plain(buildPlan(config, "fp8")) {}

    AblationModes build()
    {
        m_result.modes = {"bf16", "fp8"};
        addChain();
        addAlone();
        return std::move(m_result);
    }

private:
    void addChain()
    {
        StepPlan last = m_plain;
        for (const FusionSwitch& fusion : fusionSwitches()) {
            const Switches longer = with(m_chain, fusion);
            try {
                StepPlan plan = buildPlan(m_config, modeOf(longer));
                if (sameOps(plan, last)) {
                    m_result.skipped.emplace_back(fusion.name, "changes no op of this model's step here");
                    continue;
                }
                last = std::move(plan);
            } catch (const Error& error) {
                m_result.skipped.emplace_back(fusion.name, error.problem());
                continue;
            }
            m_chain = longer;
            m_result.modes.push_back(modeOf(m_chain));
        }
        nameTheLast(last);
    }

    /// The file is to have the fused mode under the name that it has in every other file: as the last of the chain
    /// where it runs the same ops, else beside it.
    void nameTheLast(const StepPlan& last)
    {
        if (!m_chain.empty() && sameOps(buildPlan(m_config, "fp8-fused"), last))
            m_result.modes.back() = "fp8-fused";
        else
            m_result.modes.emplace_back("fp8-fused");
    }

    /// Each fusion with what it needs, and what it needs without it.
    void addAlone()
    {
        Switches before;
        for (const FusionSwitch* fusion : m_chain) {
            const Switches set = needed(m_config, before, *fusion);
            addOnce(without(set, fusion));
            addOnce(set);
            before.push_back(fusion);
        }
    }

    void addOnce(const Switches& set)
    {
        const bool wholeChain = set.size() == m_chain.size();  // the last, which may have another name
        const std::string mode = modeOf(set);
        if (!wholeChain && std::find(m_result.modes.begin(), m_result.modes.end(), mode) == m_result.modes.end())
            m_result.modes.push_back(mode);
    }

    const MlpConfig& m_config;
    StepPlan m_plain;
    Switches m_chain;
    AblationModes m_result;
};

}  // namespace

AblationModes ablationModes(const MlpConfig& config)
{
    if (!config.fusionOverrides.empty())
        throw Error("an ablation switches the fusions itself", "fusion." + config.fusionOverrides.front().first,
                    "leave --fusion and the keys of [fusion] out");
    return Builder(config).build();
}

}  // namespace fp8scope::plan

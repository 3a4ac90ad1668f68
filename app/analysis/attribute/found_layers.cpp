// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/attribute/found_layers.h"

#include "app/analysis/attribute/kernel_sequence.h"
#include "app/analysis/attribute/layer_ops.h"
#include "app/analysis/gemms.h"
#include "app/analysis/slice_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace fp8scope::analysis {
namespace {

constexpr std::size_t kShortestUnit = 4;
constexpr std::size_t kFewestRepetitions = 3;
constexpr std::size_t kUnitsTried = 12;

/// Distances between equal runs of four elements, the most frequent first.
std::vector<std::size_t> likelyUnits(std::span<const std::uint32_t> tokens)
{
    std::map<std::array<std::uint32_t, 4>, std::size_t> lastSeen;
    std::map<std::size_t, std::size_t> votes;
    for (std::size_t i = 0; i + 4 <= tokens.size(); ++i) {
        const std::array gram{tokens[i], tokens[i + 1], tokens[i + 2], tokens[i + 3]};
        const auto [entry, isNew] = lastSeen.try_emplace(gram, i);
        if (!isNew) {
            ++votes[i - entry->second];
            entry->second = i;
        }
    }
    std::vector<std::pair<std::size_t, std::size_t>> sorted;
    for (const auto& [distance, count] : votes) {
        if (distance >= kShortestUnit && distance * kFewestRepetitions <= tokens.size())
            sorted.emplace_back(count, distance);
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::size_t> units;
    for (std::size_t i = 0; i < std::min(sorted.size(), kUnitsTried); ++i)
        units.push_back(sorted[i].second);
    return units;
}

/// The longest stretch in which elements equal those one unit later, but for one in ten.
Repetition longestWithUnit(std::span<const std::uint32_t> tokens, std::size_t unit)
{
    Repetition best{.unit = unit};
    std::size_t first = 0;
    std::size_t missed = 0;
    std::size_t missedInRow = 0;
    const auto close = [&](std::size_t end) {  // `end`: behind the last element that has an equal one
        const std::size_t count = end > first ? (end - first + unit) / unit : 0;
        if (count >= kFewestRepetitions && count > best.count)
            best = {first, unit, count};
    };
    for (std::size_t i = 0; i + unit < tokens.size(); ++i) {
        if (tokens[i] == tokens[i + unit]) {
            missedInRow = 0;
            continue;
        }
        ++missed;
        ++missedInRow;
        if (missedInRow <= 1 && missed * 10 <= i - first)
            continue;
        close(i + 1 - missedInRow);
        first = i + 1;
        missed = missedInRow = 0;
    }
    if (tokens.size() > unit)
        close(tokens.size() - unit - missedInRow);
    return best;
}

struct StepSlices {
    std::size_t first = 0, count = 0;  ///< on the busiest queue
};

class LayerFinder {
public:
    LayerFinder(Trace& trace, RunId run, TrackId queue)
        : m_trace(trace), m_run(run), m_slices(trace.tracks[queue.value].slices), m_families(trace), m_ops(trace, run)
    {
        for (const Step& step : trace.steps) {
            if (step.run == run)
                m_steps.push_back(slicesOf(step));
        }
    }

    void find()
    {
        if (m_steps.empty())
            return;
        const StepSlices& typical = m_steps[m_steps.size() / 2];
        const std::vector<std::uint32_t> tokens = tokensOf(typical);
        const std::optional<Repetition> forward = layers(tokens, 0, tokens.size());
        if (!forward)
            return;
        const bool trains = hasOptimizer(typical);
        std::optional<Repetition> backward = trains ? layers(tokens, forward->end(), tokens.size()) : std::nullopt;
        if (backward && backward->count != forward->count)
            backward.reset();
        makeLayers(*forward, backward.has_value());
        for (const StepSlices& step : m_steps) {
            if (isLike(step, tokens))
                assign(step, *forward, backward);
        }
    }

private:
    [[nodiscard]] StepSlices slicesOf(const Step& step) const
    {
        const auto begin = m_slices.startNs.begin();
        const auto first = std::lower_bound(begin, m_slices.startNs.end(), step.startNs);
        const auto last = std::lower_bound(first, m_slices.startNs.end(), step.startNs + step.durNs);
        return {static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - first)};
    }

    [[nodiscard]] std::vector<std::uint32_t> tokensOf(const StepSlices& step) const
    {
        std::vector<std::uint32_t> tokens;
        tokens.reserve(step.count);
        for (std::size_t i = step.first; i < step.first + step.count; ++i)
            tokens.push_back(m_slices.name[i].value);
        return tokens;
    }

    [[nodiscard]] bool hasOptimizer(const StepSlices& step) const
    {
        for (std::size_t i = step.first; i < step.first + step.count; ++i) {
            if (m_families.of(m_slices, i).role == Role::Optimizer)
                return true;
        }
        return false;
    }

    /// The longest repetition between two positions, if its unit multiplies matrices.
    [[nodiscard]] std::optional<Repetition> layers(const std::vector<std::uint32_t>& tokens, std::size_t begin,
                                                   std::size_t end) const
    {
        std::optional<Repetition> found = longestRepetition(std::span(tokens).subspan(begin, end - begin));
        if (!found)
            return std::nullopt;
        found->first += begin;
        for (std::size_t i = found->first; i < found->first + found->unit; ++i) {
            if (roleOfName(tokens[i]) == Role::Gemm)
                return found;
        }
        return std::nullopt;
    }

    [[nodiscard]] Role roleOfName(std::uint32_t name) const { return m_trace.names[name].role; }

    void makeLayers(const Repetition& forward, bool hasBackward)
    {
        m_firstLayer = static_cast<std::uint32_t>(m_trace.layers.size());
        for (std::size_t l = 0; l < forward.count; ++l)
            m_trace.layers.push_back(
                {.run = m_run, .index = static_cast<std::uint32_t>(l), .name = fmt::format("layer {}", l)});
        m_trace.diagnostics.push_back(
            {m_run, "layers", Severity::Info, forward.count,
             fmt::format("{} layers by the kernel sequence, which repeats {} kernels {} times{}; the file names none",
                         forward.count, forward.unit, forward.count,
                         hasBackward ? ", and as often in the backward pass" : "")});
    }

    /// Whether another step does the same kernels at the same places, but for one in twenty.
    [[nodiscard]] bool isLike(const StepSlices& step, const std::vector<std::uint32_t>& tokens) const
    {
        if (step.count != tokens.size())
            return false;
        std::size_t different = 0;
        for (std::size_t i = 0; i < tokens.size(); ++i)
            different += m_slices.name[step.first + i].value != tokens[i] ? 1 : 0;
        return different * 20 <= tokens.size();
    }

    void assign(const StepSlices& step, const Repetition& forward, const std::optional<Repetition>& backward)
    {
        for (std::size_t i = forward.first; i < forward.end(); ++i)
            put(step.first + i, (i - forward.first) / forward.unit, Phase::Forward);
        if (!backward)
            return;
        for (std::size_t i = backward->first; i < backward->end(); ++i)
            put(step.first + i, backward->count - 1 - (i - backward->first) / backward->unit, Phase::Dgrad);
    }

    void put(std::size_t slice, std::size_t layer, Phase phase)
    {
        OpId& op = m_slices.op[slice];
        op = m_ops.in(op, LayerId(m_firstLayer + static_cast<std::uint32_t>(layer)), phase);
    }

    Trace& m_trace;
    RunId m_run;
    SliceColumns& m_slices;
    SliceFamilies m_families;
    LayerOps m_ops;
    std::vector<StepSlices> m_steps;
    std::uint32_t m_firstLayer = 0;
};

}  // namespace

std::optional<Repetition> longestRepetition(std::span<const std::uint32_t> tokens)
{
    std::vector<Repetition> found;
    std::size_t most = 0;
    for (const std::size_t unit : likelyUnits(tokens)) {
        const Repetition repetition = longestWithUnit(tokens, unit);
        if (repetition.count < kFewestRepetitions)
            continue;
        found.push_back(repetition);
        most = std::max(most, repetition.unit * repetition.count);
    }
    const Repetition* best = nullptr;
    for (const Repetition& r : found) {
        if (r.unit * r.count * 10 >= most * 9 && (best == nullptr || r.unit < best->unit))
            best = &r;
    }
    return best == nullptr ? std::nullopt : std::optional(*best);
}

void findLayers(Trace& trace, RunId run)
{
    if (const TrackId queue = busiestQueue(trace, run); queue.valid())
        LayerFinder(trace, run, queue).find();
}

void attachQuantization(Trace& trace, RunId run)
{
    LayerOps ops(trace, run);
    for (const Feed& feed : quantizationFeeds(trace, run)) {
        OpId& own = trace.tracks[feed.quantization.track.value].slices.op[feed.quantization.index];
        const OpId product = trace.tracks[feed.gemm.track.value].slices.op[feed.gemm.index];
        if (!product.valid() || !trace.op(product).layer.valid() || (own.valid() && trace.op(own).layer.valid()))
            continue;
        const LayerId layer = trace.op(product).layer;
        own = ops.in(own, layer, trace.op(product).phase);
    }
}

}  // namespace fp8scope::analysis

// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/compare.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

namespace fp8scope::analysis {
namespace {

/// Rows found by key, in the order in which keys came.
class Join {
public:
    Join(const Breakdown& from, const Breakdown& to)
        : m_fromNoise(from.steps.relativeNoise()), m_toNoise(to.steps.relativeNoise())
    {}

    ComparedRow& row(std::string_view key)
    {
        const auto [entry, isNew] = m_index.try_emplace(std::string(key), m_rows.size());
        if (isNew)
            m_rows.push_back({.key = std::string(key)});
        return m_rows[entry->second];
    }

    std::vector<ComparedRow> finish()
    {
        for (ComparedRow& row : m_rows) {
            row.deltaNs = row.to.exposedNs - row.from.exposedNs;
            const double noise = m_fromNoise * static_cast<double>(row.from.exposedNs) +
                                 m_toNoise * static_cast<double>(row.to.exposedNs);
            row.withinNoise = static_cast<double>(std::abs(row.deltaNs)) <= noise;
            if (row.from.busyNs == 0 && row.fromCount == 0)
                row.state = JoinState::Added;
            else if (row.to.busyNs == 0 && row.toCount == 0)
                row.state = JoinState::Removed;
        }
        return std::move(m_rows);
    }

private:
    double m_fromNoise, m_toNoise;
    std::vector<ComparedRow> m_rows;
    std::map<std::string, std::size_t, std::less<>> m_index;
};

void add(TimePair& sum, const TimePair& part)
{
    sum.exposedNs += part.exposedNs;
    sum.busyNs += part.busyNs;
}

/// For arrays indexed by an enum of the words.
template <typename Enum, std::size_t N>
std::vector<ComparedRow> compareEnum(RunView from, RunView to, const std::array<TimePair, N>& fromTimes,
                                     const std::array<TimePair, N>& toTimes)
{
    Join join(from.run, to.run);
    for (std::size_t i = 0; i < N; ++i) {
        if (fromTimes[i].busyNs == 0 && toTimes[i].busyNs == 0)
            continue;
        ComparedRow& row = join.row(toString(static_cast<Enum>(i)));
        row.from = fromTimes[i];
        row.to = toTimes[i];
    }
    return join.finish();
}

constexpr std::string_view kNoLayer = "(no layer)";

void addLayers(RunView view, bool layerless, Join& join, TimePair ComparedRow::*side)
{
    for (const LayerTime& time : view.run.layers) {
        if (time.layer.valid() == layerless)
            continue;
        const std::string_view name = layerless ? kNoLayer : std::string_view(view.trace.layer(time.layer).name);
        add(join.row(name).*side, {time.total(), time.total()});
    }
}

void addKernels(RunView view, Join& join, TimePair ComparedRow::*side, double ComparedRow::*count)
{
    for (const KernelTime& kernel : view.run.kernels) {
        ComparedRow& row = join.row(view.trace.name(kernel.name).text);
        add(row.*side, {kernel.exposedNs, kernel.busyNs});
        row.*count += kernel.countPerStep;
    }
}

}  // namespace

std::vector<ComparedRow> compareFamilies(RunView from, RunView to)
{
    return compareEnum<Family>(from, to, from.run.families, to.run.families);
}

std::vector<ComparedRow> compareRoles(RunView from, RunView to)
{
    return compareEnum<Role>(from, to, from.run.roles, to.run.roles);
}

std::vector<ComparedRow> compareLayers(RunView from, RunView to)
{
    Join join(from.run, to.run);
    for (const bool layerless : {false, true}) {
        addLayers(from, layerless, join, &ComparedRow::from);
        addLayers(to, layerless, join, &ComparedRow::to);
    }
    return join.finish();
}

std::vector<ComparedRow> compareKernels(RunView from, RunView to)
{
    Join join(from.run, to.run);
    addKernels(from, join, &ComparedRow::from, &ComparedRow::fromCount);
    addKernels(to, join, &ComparedRow::to, &ComparedRow::toCount);
    std::vector<ComparedRow> rows = join.finish();
    std::stable_sort(rows.begin(), rows.end(), [](const ComparedRow& a, const ComparedRow& b) {
        return std::abs(a.deltaNs) > std::abs(b.deltaNs);
    });
    return rows;
}

}  // namespace fp8scope::analysis

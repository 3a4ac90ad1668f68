// SPDX-License-Identifier: Apache-2.0
// A run's typical step: measured in cells of one (name, op) each, apportioned once over the median step, then only
// summed.
#include "app/analysis/breakdown.h"

#include "app/analysis/exposure.h"
#include "app/analysis/slice_families.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

namespace fp8scope::analysis {
namespace {

constexpr std::size_t at(Family f) { return static_cast<std::size_t>(f); }
constexpr std::size_t at(Phase p) { return static_cast<std::size_t>(p); }
constexpr std::size_t at(Role r) { return static_cast<std::size_t>(r); }

/// All slices of one name and op in the measured steps.
struct Cell {
    NameId name;
    OpId op;
    RoleFamily kind;
    std::int64_t exposedNs = 0, busyNs = 0;  ///< over all measured steps; after apportioning, of the typical step
    std::vector<std::int64_t> durations;     ///< of slices that start inside a step
    SliceRef slowest;
    std::int64_t slowestNs = -1;
};

struct Measured {
    std::vector<Cell> cells;
    std::int64_t idleNs = 0, longestIdleNs = 0;
    std::int64_t totalNs = 0;
    std::size_t steps = 0;
};

/// The middle half of the steps by duration: a step with a hiccup shows what went wrong that once, not what is typical.
std::vector<Step> middleHalf(std::vector<Step> steps)
{
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.durNs < b.durNs; });
    const auto cut = static_cast<std::ptrdiff_t>(steps.size() / 4);
    return {steps.begin() + cut, steps.end() - cut};
}

class CellTable {
public:
    CellTable(const Trace& trace, const SliceFamilies& families, std::vector<Cell>& cells)
        : m_families(families), m_cells(cells), m_ofName(trace.names.size(), kNone)
    {}

    Cell& find(NameId name, OpId op)
    {
        std::uint32_t& likely = m_ofName[name.value];  // engine names stand for one op, kernel names for none
        if (likely != kNone && m_cells[likely].op == op)
            return m_cells[likely];
        const std::uint64_t key = (std::uint64_t{name.value} << 32U) | op.value;
        const auto [entry, isNew] = m_byKey.try_emplace(key, static_cast<std::uint32_t>(m_cells.size()));
        if (isNew)
            m_cells.push_back({.name = name, .op = op, .kind = m_families.of(op, name)});
        likely = entry->second;
        return m_cells[entry->second];
    }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    const SliceFamilies& m_families;
    std::vector<Cell>& m_cells;
    std::vector<std::uint32_t> m_ofName;
    std::unordered_map<std::uint64_t, std::uint32_t> m_byKey;
};

void addStep(const Trace& trace, const Step& step, const Exposure& exposure, CellTable& table, Measured& measured)
{
    for (const ExposedSlice& slice : exposure.slices) {
        const SliceColumns& s = trace.track(slice.slice.track).slices;
        const std::size_t i = slice.slice.index;
        Cell& cell = table.find(s.name[i], s.op[i]);
        cell.exposedNs += slice.exposedNs;
        cell.busyNs += slice.busyNs;
        if (s.startNs[i] < step.startNs)
            continue;  // it started before the step: counted where it started
        cell.durations.push_back(s.durNs[i]);
        if (s.durNs[i] > cell.slowestNs) {
            cell.slowestNs = s.durNs[i];
            cell.slowest = slice.slice;
        }
    }
    for (const Gap& gap : exposure.gaps)
        measured.longestIdleNs = std::max(measured.longestIdleNs, gap.endNs - gap.startNs);
    measured.idleNs += exposure.idleNs;
    measured.totalNs += step.durNs;
    ++measured.steps;
}

Measured measure(const Trace& trace, RunId run, const std::vector<Step>& used)
{
    const SliceFamilies families(trace);
    const ExposureSweep sweep(trace, run, families);
    Measured measured;
    CellTable table(trace, families, measured.cells);
    for (const Step& step : middleHalf(used))
        addStep(trace, step, sweep.over(step.startNs, step.startNs + step.durNs), table, measured);
    return measured;
}

/// Turns sums over the measured steps into times of a step that is `stepNs` long.
void apportionOver(std::int64_t stepNs, Measured& measured)
{
    std::vector<std::int64_t> weights;
    weights.reserve(measured.cells.size() + 1);
    for (const Cell& cell : measured.cells)
        weights.push_back(cell.exposedNs);
    weights.push_back(measured.idleNs);
    const std::vector<std::int64_t> parts = apportion(stepNs, weights);
    const double scale = static_cast<double>(stepNs) / static_cast<double>(measured.totalNs);
    for (std::size_t i = 0; i < measured.cells.size(); ++i) {
        Cell& cell = measured.cells[i];
        cell.exposedNs = parts[i];
        cell.busyNs =
            std::max(cell.exposedNs, static_cast<std::int64_t>(std::llround(static_cast<double>(cell.busyNs) * scale)));
    }
    measured.idleNs = parts.back();
}

Phase phaseOf(const Trace& trace, const Cell& cell) { return cell.op.valid() ? trace.op(cell.op).phase : Phase::Other; }

LayerId layerOf(const Trace& trace, const Cell& cell)
{
    return cell.op.valid() ? trace.op(cell.op).layer : LayerId::none();
}

void sumFamilies(const Trace& trace, const Measured& measured, Breakdown& b)
{
    for (const Cell& cell : measured.cells) {
        TimePair& family = b.families[at(cell.kind.family)];
        family.exposedNs += cell.exposedNs;
        family.busyNs += cell.busyNs;
        TimePair& role = b.roles[at(cell.kind.role)];
        role.exposedNs += cell.exposedNs;
        role.busyNs += cell.busyNs;
        b.phaseNs[at(phaseOf(trace, cell))] += cell.exposedNs;
    }
    TimePair& idle = b.families[at(Family::Idle)];
    idle.exposedNs += measured.idleNs;
    idle.busyNs += measured.idleNs;
    b.phaseNs[at(Phase::Other)] += measured.idleNs;
}

void sumLayers(const Trace& trace, const Measured& measured, Breakdown& b)
{
    std::map<std::pair<std::uint32_t, LayerId>, LayerTime> layers;  // by index; none() sorts last
    const auto layer = [&](LayerId id) -> LayerTime& {
        const std::uint32_t index = id.valid() ? trace.layer(id).index : UINT32_MAX;
        LayerTime& time = layers[{index, id}];
        time.layer = id;
        return time;
    };
    for (const Cell& cell : measured.cells)
        layer(layerOf(trace, cell)).exposedNs[at(phaseOf(trace, cell))][at(cell.kind.family)] += cell.exposedNs;
    layer(LayerId::none()).exposedNs[at(Phase::Other)][at(Family::Idle)] += measured.idleNs;
    for (auto& [key, time] : layers)
        b.layers.push_back(time);
}

/// FLOPs (or bytes) of one step in the cell.
double perStep(const Trace& trace, const Cell& cell, std::size_t steps, double (*amount)(const TraceOp&))
{
    if (!cell.op.valid())
        return 0;
    return amount(trace.op(cell.op)) * static_cast<double>(cell.durations.size()) / static_cast<double>(steps);
}
double flopsOf(const TraceOp& op) { return op.flops; }
double bytesOf(const TraceOp& op) { return static_cast<double>(op.bytes); }

double perSecond(double amount, std::int64_t ns) { return ns > 0 ? amount * 1e9 / static_cast<double>(ns) : 0; }

std::int64_t percentile(std::vector<std::int64_t>& values, double share)
{
    const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
    const auto nth = values.begin() + std::max<std::ptrdiff_t>(rank, 0);
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
}

void setDurationStatistics(std::vector<std::int64_t> durations, KernelTime& kernel)
{
    if (durations.empty())
        return;
    const auto [low, high] = std::minmax_element(durations.begin(), durations.end());
    kernel.minNs = *low;
    kernel.maxNs = *high;
    kernel.medianNs = percentile(durations, 0.5);
    kernel.p95Ns = percentile(durations, 0.95);
}

/// Cells of one name: usually one; more where a kernel serves several ops.
KernelTime kernelOf(const Trace& trace, std::span<Cell*> cells, std::size_t steps)
{
    KernelTime kernel;
    kernel.name = cells.front()->name;
    kernel.op = cells.size() == 1 ? cells.front()->op : OpId::none();
    const Cell* largest = cells.front();
    std::vector<std::int64_t> durations;
    std::int64_t slowestNs = -1;
    double flops = 0;
    double bytes = 0;
    for (Cell* cell : cells) {
        kernel.exposedNs += cell->exposedNs;
        kernel.busyNs += cell->busyNs;
        flops += perStep(trace, *cell, steps, flopsOf);
        bytes += perStep(trace, *cell, steps, bytesOf);
        if (cell->busyNs > largest->busyNs)
            largest = cell;
        if (cell->slowestNs > slowestNs) {
            slowestNs = cell->slowestNs;
            kernel.slowest = cell->slowest;
        }
        durations.insert(durations.end(), cell->durations.begin(), cell->durations.end());
    }
    kernel.role = largest->kind.role;
    kernel.family = largest->kind.family;
    kernel.countPerStep = static_cast<double>(durations.size()) / static_cast<double>(steps);
    kernel.flopsPerSecond = perSecond(flops, kernel.busyNs);
    kernel.bytesPerSecond = perSecond(bytes, kernel.busyNs);
    setDurationStatistics(std::move(durations), kernel);
    return kernel;
}

void listOps(const Measured& measured, Breakdown& b)
{
    for (const Cell& cell : measured.cells)
        b.ops.push_back({cell.name, cell.op, cell.kind.role, cell.kind.family,
                         static_cast<double>(cell.durations.size()) / static_cast<double>(measured.steps),
                         cell.exposedNs, cell.busyNs, cell.slowest});
}

void sumKernels(const Trace& trace, Measured& measured, Breakdown& b)
{
    std::vector<Cell*> byName;
    byName.reserve(measured.cells.size());
    for (Cell& cell : measured.cells)
        byName.push_back(&cell);
    std::stable_sort(byName.begin(), byName.end(), [](const Cell* x, const Cell* y) { return x->name < y->name; });
    for (std::size_t first = 0; first < byName.size();) {
        std::size_t last = first;
        while (last < byName.size() && byName[last]->name == byName[first]->name)
            ++last;
        b.kernels.push_back(kernelOf(trace, std::span(byName).subspan(first, last - first), measured.steps));
        first = last;
    }
    std::stable_sort(b.kernels.begin(), b.kernels.end(),
                     [](const KernelTime& x, const KernelTime& y) { return x.exposedNs > y.exposedNs; });
}

void setRatios(const Trace& trace, const Measured& measured, Breakdown& b)
{
    std::int64_t gemmBusyNs = 0;
    std::int64_t busyNs = 0;
    std::size_t launches = 0;
    for (const Cell& cell : measured.cells) {
        busyNs += cell.busyNs;
        b.classifiedNs[static_cast<std::size_t>(cell.kind.by)] += cell.busyNs;
        launches += cell.durations.size();
        const double flops = cell.kind.role == Role::Gemm ? perStep(trace, cell, measured.steps, flopsOf) : 0;
        b.stepFlops += flops;
        if (flops > 0)
            gemmBusyNs += cell.busyNs;
    }
    const auto share = [](std::int64_t part, std::int64_t whole) {
        return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
    };
    b.gemmFlopsPerSecond = perSecond(b.stepFlops, gemmBusyNs);
    b.quantizationTax = share(b[Family::Quantization].exposedNs, b.stepNs);
    b.quantizationPerFp8Gemm = share(b[Family::Quantization].busyNs, b[Family::GemmFp8].busyNs);
    b.classifiedShare = busyNs > 0 ? 1 - share(b[Family::Unknown].busyNs, busyNs) : 1;
    b.longestIdleNs = measured.longestIdleNs;
    b.launchesPerStep =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(launches) / static_cast<double>(measured.steps)));
}

Breakdown breakdownOver(const Trace& trace, StepSummary steps)
{
    Breakdown b;
    b.run = steps.run;
    b.mode = trace.run(b.run).mode;
    b.origin = trace.run(b.run).origin;
    b.steps = std::move(steps);
    if (b.steps.empty())
        return b;
    b.stepNs = b.steps.medianNs;
    Measured measured = measure(trace, b.run, b.steps.used);
    apportionOver(b.stepNs, measured);
    sumFamilies(trace, measured, b);
    sumLayers(trace, measured, b);
    listOps(measured, b);
    sumKernels(trace, measured, b);
    setRatios(trace, measured, b);
    return b;
}

}  // namespace

std::int64_t LayerTime::total() const
{
    std::int64_t sum = 0;
    for (const auto& phase : exposedNs)
        sum = std::accumulate(phase.begin(), phase.end(), sum);
    return sum;
}

std::int64_t LayerTime::family(Family f) const
{
    return std::accumulate(exposedNs.begin(), exposedNs.end(), std::int64_t{0},
                           [f](std::int64_t sum, const auto& phase) { return sum + phase[at(f)]; });
}

std::int64_t LayerTime::phase(Phase p) const
{
    return std::accumulate(exposedNs[at(p)].begin(), exposedNs[at(p)].end(), std::int64_t{0});
}

Breakdown breakdown(const Trace& trace, RunId run, StepLimit limit)
{
    return breakdownOver(trace, summarizeSteps(trace, run, limit));
}

Breakdown breakdown(const Trace& trace, const RunGroup& group) { return breakdownOver(trace, group.steps); }

std::vector<Breakdown> breakdowns(const Trace& trace, StepLimit limit)
{
    std::vector<RunGroup> groups = runGroups(trace, limit);
    dropCrowdOfVariants(groups);
    std::vector<Breakdown> all;
    for (const RunGroup& group : groups)
        all.push_back(breakdown(trace, group));
    return all;
}

}  // namespace fp8scope::analysis

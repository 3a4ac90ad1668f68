// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/gemms.h"

#include "app/analysis/exposure.h"
#include "app/analysis/slice_families.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

namespace fp8scope::analysis {
namespace {

bool isGemm(Family family)
{
    return family == Family::GemmFp8 || family == Family::Gemm16 || family == Family::GemmOther;
}

/// A slice of a product or of a quantization, in the order of all queues.
struct Event {
    std::int64_t startNs = 0;
    SliceRef slice;
    Family family = Family::Unknown;
    LayerId layer;
};

std::vector<Event> productsAndQuantization(const Trace& trace, RunId run)
{
    const SliceFamilies families(trace);
    std::vector<Event> events;
    for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
        const Track& track = trace.tracks[t];
        if (track.run != run || track.kind != TrackKind::DeviceQueue)
            continue;
        for (std::uint32_t i = 0; i < track.slices.size(); ++i) {
            const Family family = families.of(track.slices, i).family;
            if (family != Family::Quantization && !isGemm(family))
                continue;
            const OpId op = track.slices.op[i];
            events.push_back(
                {track.slices.startNs[i], {TrackId(t), i}, family, op.valid() ? trace.op(op).layer : LayerId::none()});
        }
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.startNs < b.startNs; });
    return events;
}

/// "decoder.mlp.up" and what is inside of it, "decoder.mlp.up.quant".
bool isInside(const Trace& trace, LayerId inner, LayerId outer)
{
    if (inner == outer)
        return true;
    const std::string& path = trace.layer(inner).name;
    const std::string& around = trace.layer(outer).name;
    return path.size() > around.size() && path.starts_with(around) && path[around.size()] == '.';
}

bool feeds(const Trace& trace, const Event& quantization, const Event& gemm)
{
    if (quantization.layer.valid() && gemm.layer.valid())
        return isInside(trace, quantization.layer, gemm.layer);
    return quantization.slice.track == gemm.slice.track;
}

const TraceOp* opOf(const Trace& trace, SliceRef slice)
{
    const OpId op = trace.track(slice.track).slices.op[slice.index];
    return op.valid() ? &trace.op(op) : nullptr;
}

std::string typesOf(const TraceOp* op, const Name& name)
{
    if (op != nullptr && !op->aType.empty())
        return op->bType.empty() || op->aType == op->bType ? op->aType : op->aType + " x " + op->bType;
    return name.precision == Precision::Unknown ? std::string() : std::string(toString(name.precision));
}

/// Sums slices into bills; the quantization of a slice goes to the bill of the product that it feeds.
class BillTable {
public:
    BillTable(const Trace& trace, RunId run) : m_trace(trace), m_families(trace)
    {
        for (const Feed& feed : quantizationFeeds(trace, run))
            m_gemmOf.emplace(key(feed.quantization), feed.gemm);
    }

    void addStep(const Step& step, const Exposure& exposure, GemmTable& table)
    {
        for (const ExposedSlice& slice : exposure.slices)
            add(slice, step.startNs, table);
    }

    [[nodiscard]] const SliceFamilies& families() const { return m_families; }

    std::vector<GemmBill> finish(std::size_t steps)
    {
        const auto perStep = [steps](std::int64_t ns) { return ns / static_cast<std::int64_t>(steps); };
        for (std::size_t i = 0; i < m_bills.size(); ++i) {
            GemmBill& bill = m_bills[i];
            bill.flopsPerSecond = bill.gemmNs > 0 ? m_flops[i] * 1e9 / static_cast<double>(bill.gemmNs) : 0;
            bill.countPerStep /= static_cast<double>(steps);
            bill.gemmNs = perStep(bill.gemmNs);
            bill.quantizationNs = perStep(bill.quantizationNs);
        }
        std::stable_sort(m_bills.begin(), m_bills.end(), [](const GemmBill& a, const GemmBill& b) {
            return a.gemmNs + a.quantizationNs > b.gemmNs + b.quantizationNs;
        });
        return std::move(m_bills);
    }

private:
    void add(const ExposedSlice& exposed, std::int64_t stepNs, GemmTable& table)
    {
        const SliceRef slice = exposed.slice;
        const Family family = m_families.of(m_trace.track(slice.track).slices, slice.index).family;
        if (isGemm(family)) {
            addGemm(bill(slice), exposed, stepNs);
        } else if (family == Family::Quantization) {
            table.quantizationNs += exposed.busyNs;
            const auto gemm = m_gemmOf.find(key(slice));
            if (gemm == m_gemmOf.end())
                table.unattachedNs += exposed.busyNs;
            else
                bill(gemm->second).quantizationNs += exposed.busyNs;
        }
    }

    static std::uint64_t key(SliceRef slice) { return (std::uint64_t{slice.track.value} << 32U) | slice.index; }

    GemmBill& bill(SliceRef slice)
    {
        const NameId kernel = m_trace.track(slice.track).slices.name[slice.index];
        const TraceOp* op = opOf(m_trace, slice);
        const LayerId layer = op != nullptr ? op->layer : LayerId::none();
        const Phase phase = op != nullptr ? op->phase : Phase::Other;
        const auto shape = op != nullptr ? std::array{op->m, op->n, op->k} : std::array<std::int64_t, 3>{};
        const Key found{layer, phase, shape, kernel};
        const auto [entry, isNew] = m_index.try_emplace(found, m_bills.size());
        if (isNew) {
            m_bills.push_back({.layer = layer,
                               .phase = phase,
                               .m = shape[0],
                               .n = shape[1],
                               .k = shape[2],
                               .types = typesOf(op, m_trace.name(kernel)),
                               .kernel = kernel});
            m_bills.back().family = m_families.of(m_trace.track(slice.track).slices, slice.index).family;
            m_flops.push_back(0);
            m_slowestNs.push_back(-1);
        }
        m_last = entry->second;
        return m_bills[m_last];
    }

    void addGemm(GemmBill& bill, const ExposedSlice& exposed, std::int64_t stepNs)
    {
        const SliceRef slice = exposed.slice;
        bill.gemmNs += exposed.busyNs;
        if (m_trace.track(slice.track).slices.startNs[slice.index] < stepNs)
            return;  // it began before the step: counted where it began
        bill.countPerStep += 1;
        if (const TraceOp* op = opOf(m_trace, slice))
            m_flops[m_last] += op->flops;
        if (exposed.busyNs > m_slowestNs[m_last]) {
            m_slowestNs[m_last] = exposed.busyNs;
            bill.slowest = slice;
        }
    }

    using Key = std::tuple<LayerId, Phase, std::array<std::int64_t, 3>, NameId>;
    const Trace& m_trace;
    SliceFamilies m_families;
    std::unordered_map<std::uint64_t, SliceRef> m_gemmOf;  ///< by quantization slice
    std::map<Key, std::size_t> m_index;
    std::vector<GemmBill> m_bills;
    std::vector<double> m_flops;
    std::vector<std::int64_t> m_slowestNs;
    std::size_t m_last = 0;  ///< the bill found last
};

}  // namespace

std::vector<Feed> quantizationFeeds(const Trace& trace, RunId run)
{
    constexpr std::size_t kMostPending = 256;  ///< what waits longer feeds nothing
    std::vector<Feed> found;
    std::vector<Event> pending;
    for (const Event& event : productsAndQuantization(trace, run)) {
        if (event.family == Family::Quantization) {
            if (pending.size() == kMostPending)
                pending.erase(pending.begin());
            pending.push_back(event);
        } else if (event.family == Family::GemmFp8) {
            std::erase_if(pending, [&](const Event& quantization) {
                if (!feeds(trace, quantization, event))
                    return false;
                found.push_back({quantization.slice, event.slice});
                return true;
            });
        }
    }
    return found;
}

GemmTable gemmTable(const Trace& trace, const Breakdown& run)
{
    GemmTable table;
    const std::size_t steps = run.steps.used.size();
    if (steps == 0)
        return table;
    BillTable bills(trace, run.run);
    const ExposureSweep sweep(trace, run.run, bills.families());
    for (const Step& step : run.steps.used)
        bills.addStep(step, sweep.over(step.startNs, step.startNs + step.durNs), table);
    table.gemms = bills.finish(steps);
    table.quantizationNs /= static_cast<std::int64_t>(steps);
    table.unattachedNs /= static_cast<std::int64_t>(steps);
    return table;
}

}  // namespace fp8scope::analysis

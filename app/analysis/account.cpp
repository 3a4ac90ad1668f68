// SPDX-License-Identifier: Apache-2.0
// The bars of "where did my 2x go". Each is the difference of one part of the step between two runs, and every part of
// a step belongs to exactly one bar, so the bars add up by construction; only the GEMMs' difference is split further,
// into what the device promises and what became of it.
#include "app/analysis/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace fp8scope::analysis {
namespace {

bool isGemm(Family f) { return f == Family::GemmFp8 || f == Family::Gemm16 || f == Family::GemmOther; }

/// GEMM time of one layer (or of everything without a layer) in one run.
struct GemmTime {
    std::int64_t fp8 = 0, sixteenBit = 0, other = 0;
    [[nodiscard]] std::int64_t total() const { return fp8 + sixteenBit + other; }
    [[nodiscard]] bool empty() const { return total() == 0; }
};

constexpr std::uint32_t kNoLayer = UINT32_MAX;

std::map<std::uint32_t, GemmTime> gemmTimes(const Trace& trace, const Breakdown& b)
{
    std::map<std::uint32_t, GemmTime> times;
    for (const LayerTime& layer : b.layers) {
        GemmTime& time = times[layer.layer.valid() ? trace.layer(layer.layer).index : kNoLayer];
        time.fp8 += layer.family(Family::GemmFp8);
        time.sixteenBit += layer.family(Family::Gemm16);
        time.other += layer.family(Family::GemmOther);
    }
    return times;
}

/// The change of GEMM time from one run to another, in three parts that add up to it.
struct GemmChange {
    double idealNs = 0;                       ///< the device's promise; not yet rounded
    double idealOfFp8LayersNs = 0;            ///< the share of it that belongs to layers that do run in fp8
    std::int64_t fp8LayersNs = 0;             ///< measured change of the layers that run in fp8
    std::int64_t restNs = 0;                  ///< measured change of the others
    std::int64_t fp8FromNs = 0, fp8ToNs = 0;  ///< GEMM time of the fp8 layers on both sides
    bool anyFp8 = false;
};

/// GEMMs without a layer (imported traces): those still in 16 bit are taken to be the same ones on both sides.
std::pair<GemmTime, GemmTime> withoutUnchanged(GemmTime from, GemmTime to)
{
    const std::int64_t same = std::min(from.sixteenBit, to.sixteenBit);
    from.sixteenBit -= same;
    to.sixteenBit -= same;
    return {from, to};
}

GemmChange gemmChange(const std::map<std::uint32_t, GemmTime>& fromTimes,
                      const std::map<std::uint32_t, GemmTime>& toTimes, double ratio)
{
    std::map<std::uint32_t, std::pair<GemmTime, GemmTime>> pairs;
    for (const auto& [layer, time] : fromTimes)
        pairs[layer].first = time;
    for (const auto& [layer, time] : toTimes)
        pairs[layer].second = time;

    GemmChange change;
    for (const auto& [layer, both] : pairs)
        change.anyFp8 = change.anyFp8 || both.second.fp8 > 0;
    for (const auto& [layer, both] : pairs) {
        const bool inFp8 = both.second.fp8 > 0;
        const double ideal = change.anyFp8 ? -static_cast<double>(both.first.sixteenBit) * (1 - 1 / ratio) : 0;
        change.idealNs += ideal;
        if (!inFp8) {
            change.restNs += both.second.total() - both.first.total();
            continue;
        }
        const auto [from, to] = layer == kNoLayer ? withoutUnchanged(both.first, both.second) : both;
        change.idealOfFp8LayersNs += -static_cast<double>(from.sixteenBit) * (1 - 1 / ratio);
        change.fp8LayersNs += to.total() - from.total();
        change.fp8FromNs += from.total();
        change.fp8ToNs += to.total();
    }
    return change;
}

class Bars {
public:
    explicit Bars(SpeedupAccount& account) : m_account(account) {}

    /// Left out when there is nothing to compare on either side.
    void add(std::string_view name, std::int64_t deltaNs, bool present, std::string explanation)
    {
        if (present || deltaNs != 0)
            m_account.bars.push_back({std::string(name), deltaNs, std::move(explanation)});
    }

    void add(std::string_view name, const TimePair& from, const TimePair& to, std::string explanation)
    {
        add(name, to.exposedNs - from.exposedNs, from.exposedNs != 0 || to.exposedNs != 0, std::move(explanation));
    }

private:
    SpeedupAccount& m_account;
};

void addGemmBars(const GemmChange& change, double ratio, bool anyGemm, bool anyLeft, Bars& out)
{
    const std::int64_t total = change.fp8LayersNs + change.restNs;
    const auto ideal = static_cast<std::int64_t>(std::llround(change.idealNs));
    // What belongs to layers left in 16 bit: the promised gain that they forgo, and their own change.
    const std::int64_t left =
        change.anyFp8 ? static_cast<std::int64_t>(std::llround(change.idealOfFp8LayersNs)) - ideal + change.restNs : 0;
    const std::int64_t efficiency = total - ideal - left;
    out.add(bars::kIdealGemms, ideal, false,
            fmt::format(
                "What the 16-bit GEMMs would save if they ran {:.3g} times as fast, this device's own ratio of fp8 to "
                "16-bit peaks.",
                ratio));
    out.add(
        bars::kGemmEfficiency, efficiency, anyGemm,
        change.anyFp8
            ? (ratio > 1
                   ? "The fp8 layers' GEMMs as measured, less their ideal time: small or odd shapes, slow "
                     "accumulation, a bias that the GEMM no longer adds."
                   : "The change of the fp8 layers' GEMMs as measured. This device has no fp8 units, so their ideal "
                     "gain is 0 and has no bar.")
            : "The change of the GEMMs as measured; neither side gains fp8 GEMMs.");
    out.add(bars::kLeftInSixteenBit, left, anyLeft,
            "What the GEMMs of layers that stayed in 16 bit forgo of the ideal gain, and their own change between the "
            "runs.");
}

void addFamilyBars(const Breakdown& from, const Breakdown& to, Bars& out)
{
    out.add(bars::kQuantization, from[Family::Quantization], to[Family::Quantization],
            "amax, scale, cast, transpose and padding kernels; a bias gradient fused into a cast is in here.");
    const auto role = [](const Breakdown& b, Role r) { return b.roles[static_cast<std::size_t>(r)]; };
    out.add(bars::kBias, role(from, Role::Bias), role(to, Role::Bias),
            "Kernels that add a bias on their own; a bias added by the GEMM is in the GEMM's time.");
    out.add(bars::kBiasGradient, role(from, Role::BiasGrad), role(to, Role::BiasGrad),
            "Column sums of the gradients in kernels of their own.");
    out.add(bars::kActivationNorm, from[Family::ActivationNorm], to[Family::ActivationNorm],
            "Activations, norms and softmax with their gradients; an amax fused into an activation is in here.");
    out.add(bars::kAttention, from[Family::Attention], to[Family::Attention],
            "Attention kernels and rotary embeddings.");
    out.add(bars::kOptimizer, from[Family::Optimizer], to[Family::Optimizer], "The parameter update.");
    out.add(bars::kCommunication, from[Family::Communication], to[Family::Communication],
            "Collectives that no computation hides.");
    out.add(bars::kMemoryOps, from[Family::MemoryOps], to[Family::MemoryOps],
            "Copies and fills that nothing else hides.");
    out.add(bars::kOtherCompute, from[Family::OtherCompute], to[Family::OtherCompute],
            "Loss, reductions, elementwise and indexing kernels.");
    out.add(bars::kLaunchGaps, from[Family::Idle], to[Family::Idle],
            "Time inside the step in which the device ran nothing.");
    out.add(bars::kUnknown, from[Family::Unknown], to[Family::Unknown], "Kernels that no rule knows.");
}

bool anyLayerInSixteenBit(const std::map<std::uint32_t, GemmTime>& toTimes)
{
    for (const auto& [layer, time] : toTimes) {
        if (layer != kNoLayer && time.fp8 == 0 && !time.empty())
            return true;
    }
    return false;
}

void setRatios(const GemmChange& change, const Breakdown& from, const Breakdown& to, SpeedupAccount& account)
{
    const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0.0; };
    const double fromNs = static_cast<double>(from.stepNs);
    account.speedup = ratio(fromNs, static_cast<double>(to.stepNs));
    account.speedupInterval = {ratio(from.steps.interval.low, to.steps.interval.high),
                               ratio(from.steps.interval.high, to.steps.interval.low)};
    account.withinNoise =
        from.steps.interval.low <= to.steps.interval.high && to.steps.interval.low <= from.steps.interval.high;
    const double sixteenBitNs = static_cast<double>(from[Family::Gemm16].exposedNs);
    account.amdahlBound = ratio(fromNs, fromNs - sixteenBitNs * (1 - 1 / account.idealGemmRatio));
    account.quantizationPerFp8Gemm = to.quantizationPerFp8Gemm;
    account.breakEven =
        change.fp8ToNs > 0 ? ratio(static_cast<double>(change.fp8FromNs), static_cast<double>(change.fp8ToNs)) - 1 : 0;
}

}  // namespace

SpeedupAccount account(const Trace& fromTrace, const Breakdown& from, const Trace& toTrace, const Breakdown& to)
{
    SpeedupAccount account;
    account.from = from.run;
    account.to = to.run;
    account.fromMode = from.mode;
    account.toMode = to.mode;
    account.fromNs = from.stepNs;
    account.toNs = to.stepNs;
    account.idealGemmRatio = idealGemmRatio(toTrace, to.run);

    const auto fromTimes = gemmTimes(fromTrace, from);
    const auto toTimes = gemmTimes(toTrace, to);
    const GemmChange change = gemmChange(fromTimes, toTimes, account.idealGemmRatio);
    bool anyGemm = false;
    for (const Breakdown* b : {&from, &to}) {
        for (std::size_t f = 0; f < b->families.size(); ++f)
            anyGemm = anyGemm || (isGemm(static_cast<Family>(f)) && b->families[f].exposedNs > 0);
    }
    Bars out(account);
    addGemmBars(change, account.idealGemmRatio, anyGemm, change.anyFp8 && anyLayerInSixteenBit(toTimes), out);
    addFamilyBars(from, to, out);
    setRatios(change, from, to, account);
    return account;
}

SpeedupAccount account(const Trace& trace, const Breakdown& from, const Breakdown& to)
{
    return account(trace, from, trace, to);
}

std::int64_t SpeedupAccount::delta(std::string_view barName) const
{
    const auto found =
        std::find_if(bars.begin(), bars.end(), [&](const AccountBar& bar) { return bar.name == barName; });
    return found == bars.end() ? 0 : found->deltaNs;
}

bool isSixteenBit(const Breakdown& b) { return b.stepNs > 0 && b[Family::GemmFp8].busyNs == 0; }

std::vector<SpeedupAccount> accounts(const Trace& trace, const std::vector<Breakdown>& runs)
{
    std::vector<SpeedupAccount> all;
    const auto base = std::find_if(runs.begin(), runs.end(), isSixteenBit);
    if (base == runs.end() || areRanks(runs))
        return all;
    for (const Breakdown& run : runs) {
        if (run.run != base->run && run.stepNs > 0)
            all.push_back(account(trace, *base, run));
    }
    return all;
}

bool areRanks(const std::vector<Breakdown>& runs)
{
    return runs.size() > 1 &&
           std::all_of(runs.begin(), runs.end(), [](const Breakdown& b) { return b.origin == Origin::Imported; });
}

const Breakdown* focusRun(const std::vector<Breakdown>& runs)
{
    const Breakdown* focus = nullptr;
    for (const Breakdown& run : runs) {
        if (run.stepNs == 0)
            continue;
        const auto rank = [](const Breakdown& b) { return std::pair(isSixteenBit(b), b.stepNs); };
        if (focus == nullptr || rank(run) < rank(*focus))
            focus = &run;
    }
    return focus;
}

const Device* deviceOf(const Trace& trace, RunId run)
{
    for (const Track& track : trace.tracks) {
        if (track.run == run && track.kind == TrackKind::DeviceQueue && track.device.valid())
            return &trace.devices[track.device.value];
    }
    return nullptr;
}

double idealGemmRatio(const Trace& trace, RunId run)
{
    const Device* device = deviceOf(trace, run);
    if (device == nullptr || !device->hasFp8)
        return 1;
    return device->peakFp8 > 0 && device->peak16 > 0 ? device->peakFp8 / device->peak16 : 2;
}

}  // namespace fp8scope::analysis

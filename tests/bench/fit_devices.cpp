// SPDX-License-Identifier: Apache-2.0
// Fits the prediction model's constants of every measured device and writes resources/device_fits.toml:
//   fit_devices DATA_DIRECTORY OUTPUT [DEVICE...]
// Six tenths of the (n, k) pairs are seen by the fit; the errors that it prints and writes are on the others. Which
// software is the reference of a recipe (referenceOf): 16-bit GEMMs of all frameworks (cuBLAS in each), tensorwise
// scaling of TensorRT-LLM (cuBLASLt; amax and cast before it), per-token scaling of SGLang (CUTLASS), 1x128 blocks of
// TensorRT-LLM (its own kernels, DeepGEMM on Blackwell; SGLang's block kernels differ from them by 10% to 40% either
// way).
#include "collector/trace/error.h"
#include "engine/predict/fit.h"
#include "tests/bench/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>

namespace {

using namespace fp8scope;
using namespace fp8scope::predict;
using bench::MeasuredRow;

constexpr std::size_t kMostTrainingRows = 1300;
constexpr std::int64_t kSmallestExtent = 128;
/// Not used: block kernels of versions that took about twice as long as the next ones for all shapes, and rows called
/// static on B200 and GB200 whose times hold the whole dynamic quantizer.
bool isUsable(const MeasuredRow& row)
{
    const bool slowBlocks = row.dtype == "fp8_block" && (row.version == "1.3.0rc15" || row.version == "1.3.0rc17");
    const bool notStatic = row.dtype == "fp8_static" && (row.version == "1.2.0rc5" || row.version == "1.3.0rc10");
    return std::min({row.m, row.n, row.k}) >= kSmallestExtent && !slowBlocks && !notStatic;
}

struct Reference {
    GemmKind kind;
    std::optional<QuantizerKind> quantizer;
};

/// Which kind a measured row is of, or nullopt when it is not the reference of any.
std::optional<Reference> referenceOf(const MeasuredRow& row)
{
    if (row.dtype == "bfloat16")
        return Reference{GemmKind::Bf16, std::nullopt};
    if (row.dtype == "fp8" && row.framework == "TRTLLM")
        return Reference{GemmKind::Tensorwise, QuantizerKind::Tensorwise};
    if (row.dtype == "fp8_static")
        return Reference{GemmKind::Tensorwise, QuantizerKind::Cast};
    if (row.dtype == "fp8")
        return Reference{GemmKind::Rowwise, QuantizerKind::Rowwise};
    if (row.dtype == "fp8_block" && row.framework == "TRTLLM")
        return Reference{GemmKind::Blockwise, QuantizerKind::Blockwise};
    return std::nullopt;
}

struct Sample {
    MeasuredGemm gemm;
    std::string framework;
};

struct Data {
    std::vector<Sample> training, heldOut;
};

Data dataOf(std::span<const MeasuredRow> rows, std::string_view device, GemmKind kind)
{
    Data data;
    for (const MeasuredRow& row : rows) {
        const auto reference = row.device == device && isUsable(row) ? referenceOf(row) : std::nullopt;
        if (!reference || reference->kind != kind)
            continue;
        Sample sample{
            {{row.m, row.n, row.k}, row.us, row.sustained ? Clock::Steady : Clock::Burst, reference->quantizer},
            row.framework};
        (bench::isTrainingPair(row.n, row.k) ? data.training : data.heldOut).push_back(std::move(sample));
    }
    return data;
}

/// The rows measured at a clock, evenly thinned. A static cast before the GEMM is left for the report.
std::vector<MeasuredGemm> trainingRows(const std::vector<Sample>& samples, Clock clock)
{
    std::vector<MeasuredGemm> all, rows;
    for (const Sample& s : samples) {
        if (s.gemm.clock == clock && s.gemm.quantizer != QuantizerKind::Cast)
            all.push_back(s.gemm);
    }
    const double step = std::max(1.0, static_cast<double>(all.size()) / kMostTrainingRows);
    for (double at = 0; at < static_cast<double>(all.size()); at += step)
        rows.push_back(all[static_cast<std::size_t>(at)]);
    return rows;
}

struct SizeClass {
    std::string_view name;
    double lowGflop, highGflop;
};
constexpr std::array kSizes{
    SizeClass{"all", 0, 1e12},          SizeClass{"under 1 GFLOP", 0, 1},       SizeClass{"1-10 GFLOP", 1, 10},
    SizeClass{"10-100 GFLOP", 10, 100}, SizeClass{"100-1000 GFLOP", 100, 1000}, SizeClass{"over 1 TFLOP", 1000, 1e12}};

/// Half the logarithmic distance between two frameworks' times of one shape: no single prediction can be nearer to
/// both.
std::vector<double> noiseOf(const std::vector<Sample>& samples, const SizeClass& size)
{
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::vector<const Sample*>> byShape;
    for (const Sample& s : samples) {
        const double gflop = s.gemm.shape.flops() * 1e-9;
        if (s.gemm.clock == Clock::Burst && gflop >= size.lowGflop && gflop < size.highGflop)
            byShape[{s.gemm.shape.m, s.gemm.shape.n, s.gemm.shape.k}].push_back(&s);
    }
    std::vector<double> noise;
    for (const auto& [shape, same] : byShape) {
        for (std::size_t i = 1; i < same.size(); ++i) {
            if (same[i]->framework != same[0]->framework)
                noise.push_back(std::abs(std::log(same[i]->gemm.us / same[0]->gemm.us)) / 2);
        }
    }
    return noise;
}

/// What is reported apart: the recipe itself, the same with a static scale, and long runs at the steady clock.
struct Group {
    std::string_view suffix;
    Clock clock;
    bool isStatic;
    [[nodiscard]] bool holds(const MeasuredGemm& g) const
    {
        return g.clock == clock && (g.quantizer == QuantizerKind::Cast) == isStatic;
    }
};
constexpr std::array kGroups{Group{"", Clock::Burst, false}, Group{" static", Clock::Burst, true},
                             Group{" steady", Clock::Steady, false}};

void reportGroup(DeviceModel& device, GemmKind kind, const GemmFit& fit, const Data& data, const Group& group)
{
    const QuantizerConstants cast =
        device.quantizer[static_cast<std::size_t>(QuantizerKind::Cast)].value_or(QuantizerConstants{});
    std::vector<Sample> all = data.training;
    all.insert(all.end(), data.heldOut.begin(), data.heldOut.end());
    for (const SizeClass& size : kSizes) {
        std::vector<double> errors;
        for (const Sample& s : data.heldOut) {
            const double gflop = s.gemm.shape.flops() * 1e-9;
            if (group.holds(s.gemm) && gflop >= size.lowGflop && gflop < size.highGflop)
                errors.push_back(std::abs(fittedUs(device.machine(kind), fit, cast, s.gemm) / s.gemm.us - 1));
        }
        const bool spread = group.suffix.empty();
        const ErrorSummary error = summarize(std::move(errors)),
                           noise = spread ? summarize(noiseOf(all, size)) : ErrorSummary{};
        if (error.rows == 0)
            continue;
        const std::string what = std::string(toString(kind)) + std::string(group.suffix);
        device.errors.push_back({what, std::string(size.name), error.median, error.p90, error.rows,
                                 noise.rows < 20 ? 0 : noise.median, noise.rows < 20 ? 0 : noise.p90});
        fmt::print("{:13} {:17} {:15} n={:5} median {:5.1f}% p90 {:5.1f}%   frameworks' spread {:4.1f}% {:5.1f}%\n",
                   device.spec.id, what, size.name, error.rows, 100 * error.median, 100 * error.p90, 100 * noise.median,
                   100 * noise.p90);
    }
    std::fflush(stdout);
}

void report(DeviceModel& device, GemmKind kind, const GemmFit& fit, const Data& data)
{
    for (const Group& group : kGroups)
        reportGroup(device, kind, fit, data, group);
}

std::string publishedName(std::string_view id)
{
    static const std::map<std::string_view, std::string> kNames{
        {"b200-sxm", "B200 SXM"}, {"b300-sxm", "B300 SXM"},
        {"gb200", "GB200"},       {"gb300", "GB300"},
        {"h100-sxm", "H100 SXM"}, {"h200-sxm", "H200 SXM"},
        {"l40s", "L40S"},         {"rtx-pro-6000", "RTX PRO 6000 Blackwell Server"}};
    const auto known = kNames.find(id);
    return known == kNames.end() ? std::string() : known->second;
}

/// One cast kernel with a known scale, by TensorRT-LLM and vLLM.
void fitCast(DeviceModel& device, std::span<const bench::PublishedRow> published)
{
    std::vector<MeasuredQuantizer> rows;
    for (const bench::PublishedRow& row : published) {
        if (row.op == "quantize" && row.device == publishedName(device.spec.id) &&
            row.extra.starts_with("one static-scale cast kernel"))
            rows.push_back({row.m, row.k, row.us});
    }
    QuantizerConstants cast{.floorUs = 1.5, .dramFraction = 0.85, .rowUs = 1e-3, .rowUsPerK = 1e-6};
    if (!rows.empty())
        cast = fitQuantizer(device.machine(GemmKind::Bf16), QuantizerKind::Cast, rows, cast);
    device.quantizer[static_cast<std::size_t>(QuantizerKind::Cast)] = cast;
}

/// Where the search starts, and which tiles and split-K factors the library has.
GemmConstants startOf(const DeviceModel& device, GemmKind kind)
{
    GemmConstants start;
    const int cc = device.spec.computeCapability;
    const bool clusters = cc >= 90 && cc < 120;
    start.tiles = !clusters ? "simple" : cc == 90 ? "hopper" : "blackwell";
    if (kind != GemmKind::Bf16 && clusters)
        start.tiles = "cutlass";
    if (kind == GemmKind::Rowwise || kind == GemmKind::Blockwise)
        start.maxSplitK = 1;
    if (!clusters) {
        start.smGBs = 65;
        start.l2GBs = 4000;
        start.tileUs = 2.5;
        start.tileAreaUs = 3.5;
    }
    return start;
}

QuantizerConstants quantizerStart(GemmKind kind)
{
    return kind == GemmKind::Tensorwise ? QuantizerConstants{.floorUs = 9} : QuantizerConstants{.floorUs = 3};
}

/// Without long runs, their clock is taken to be the one that a benchmark's GEMM of 5 ms has reached; what the fit says
/// of longer ones is extrapolation.
constexpr double kSteadyUs = 5000;
double clockAfter(double us, const GemmConstants& c)
{
    return c.sustained + (1 - c.sustained) / (1 + us / c.throttleUs);
}

/// Everything but the clock of a long run is known.
GemmFit fitSteady(const GemmMachine& machine, std::span<const MeasuredGemm> rows, const GemmFit& burst,
                  const QuantizerConstants& cast)
{
    std::vector<std::string_view> keep;
    for (const auto& parameter : gemmParameters()) {
        if (parameter.name != "steady")
            keep.push_back(parameter.name);
    }
    return fitGemm(machine, rows, burst, cast, keep);
}

void fitKind(DeviceModel& device, GemmKind kind, std::span<const MeasuredRow> rows)
{
    const Data data = dataOf(rows, device.spec.id, kind);
    if (data.training.empty())
        return;
    const std::vector<MeasuredGemm> training = trainingRows(data.training, Clock::Burst);
    const std::vector<MeasuredGemm> steady = trainingRows(data.training, Clock::Steady);
    std::vector<std::string_view> keep;
    GemmFit fit{startOf(device, kind), quantizerStart(kind)};
    if (kind != GemmKind::Bf16) {  // in a sum of two kernels their floors cannot be told apart
        fit.gemm.floorUs = device.gemm[static_cast<std::size_t>(GemmKind::Bf16)]->floorUs;
        keep.push_back("floor_us");
    }
    const QuantizerConstants cast = device.constantsOf(QuantizerKind::Cast);
    fit = fitGemm(device.machine(kind), training, fit, cast, keep);
    fit.gemm.steady = clockAfter(kSteadyUs, fit.gemm);
    if (!steady.empty())
        fit.gemm = fitSteady(device.machine(kind), steady, fit, cast).gemm;
    device.gemm[static_cast<std::size_t>(kind)] = fit.gemm;
    if (kind != GemmKind::Bf16)
        device.quantizer[static_cast<std::size_t>(kind)] = fit.quantizer;
    report(device, kind, fit, data);
}

/// No measured set has MXFP8 GEMMs. cuBLASLt's are its fp8 GEMMs with scales read beside (7.16 against 6.81 ms a layer,
/// Transformer Engine's tables of B300); its quantizer is a cast that reaches 0.76 of the memory's peak (torchao,
/// B200).
void deriveMxfp8(DeviceModel& device)
{
    const auto& tensorwise = device.gemm[static_cast<std::size_t>(GemmKind::Tensorwise)];
    if (device.spec.peakMxfp8 <= 0 || !tensorwise)
        return;
    GemmConstants mxfp8 = *tensorwise;
    mxfp8.peakFraction *= 0.95;
    device.gemm[static_cast<std::size_t>(GemmKind::Mxfp8)] = mxfp8;
    QuantizerConstants quantizer = device.constantsOf(QuantizerKind::Cast);
    quantizer.dramFraction = std::min(quantizer.dramFraction, 0.76);
    device.quantizer[static_cast<std::size_t>(QuantizerKind::Mxfp8)] = quantizer;
}

void fitDevice(DeviceModel& device, std::span<const MeasuredRow> rows, std::span<const bench::PublishedRow> published)
{
    device.gemm = {};
    device.quantizer = {};
    device.errors.clear();
    fitCast(device, published);
    for (const GemmKind kind : {GemmKind::Bf16, GemmKind::Tensorwise, GemmKind::Rowwise, GemmKind::Blockwise})
        fitKind(device, kind, rows);
    deriveMxfp8(device);
    const auto count = std::ranges::count_if(rows, [&](const MeasuredRow& row) {
        return row.device == device.spec.id && isUsable(row) && referenceOf(row) && bench::isTrainingPair(row.n, row.k);
    });
    device.provenance = fmt::format("fitted to {} measured times (aiconfigurator, Apache-2.0)", count);
}

int run(std::span<char*> arguments)
{
    if (arguments.size() < 3) {
        fmt::print(stderr, "usage: fit_devices DATA_DIRECTORY OUTPUT [DEVICE...]\n");
        return 2;
    }
    const std::vector<MeasuredRow> measured = bench::readMeasured(arguments[1]);
    const std::vector<bench::PublishedRow> published = bench::readPublished(arguments[1]);
    const DeviceTable table = builtInDevices();
    std::ofstream out(arguments[2]);
    out << "# Written by tests/bench/fit_devices.cpp; not to be edited by hand. Errors are on (n, k) pairs not seen by "
           "the fit.\n";
    for (DeviceModel device : table.devices()) {
        const bool asked = arguments.size() == 3 ||
                           std::find(arguments.begin() + 3, arguments.end(), device.spec.id) != arguments.end();
        const bool hasData =
            std::ranges::any_of(measured, [&](const MeasuredRow& r) { return r.device == device.spec.id; });
        if (!hasData)
            continue;
        if (asked)
            fitDevice(device, measured, published);
        out << '\n' << fitsToToml(device);
        out.flush();
    }
    return out ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        return run({argv, static_cast<std::size_t>(argc)});
    } catch (const std::exception& error) {
        fmt::print(stderr, "fit_devices: {}\n", error.what());
        return 1;
    }
}

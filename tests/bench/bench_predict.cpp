// SPDX-License-Identifier: Apache-2.0
// How far predictions are from what others measured:  bench_predict DATA_DIRECTORY
// Prints the errors stored with each device's constants, whether the sign of "fp8 is faster" is right, tables of whole
// layers (Transformer Engine, torchao), and how fast the predictor is. Built on demand: ninja bench_predict.
#include "engine/predict/linear.h"
#include "engine/predict/step.h"
#include "tests/bench/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>

namespace {

using namespace fp8scope;
using namespace fp8scope::predict;
using bench::MeasuredRow;

double median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values.empty() ? 0 : values[values.size() / 2];
}

void printStoredErrors(const DeviceTable& table)
{
    fmt::print("GEMMs and fp8 linear layers, (n, k) pairs that the fit had not seen, m, n, k from 128\n");
    for (const DeviceModel& device : table.devices()) {
        for (const FitError& e : device.errors) {
            if (e.sizeClass == "all")
                fmt::print("  {:13} {:18} n={:5} median {:5.1f}%  p90 {:5.1f}%\n", device.spec.id, e.what, e.rows,
                           100 * e.median, 100 * e.p90);
        }
    }
}

struct Signs {
    int right = 0, all = 0;
};

/// Shapes that one framework measured in bf16 and in fp8, where the two differ by over 5%.
void printSigns(const DeviceTable& table, std::span<const MeasuredRow> rows)
{
    using Shape = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::int64_t>;
    std::map<Shape, std::vector<double>> bf16;
    for (const MeasuredRow& row : rows) {
        if (row.dtype == "bfloat16" && !row.sustained)
            bf16[{row.device, row.framework, row.m, row.n, row.k}].push_back(row.us);
    }
    std::map<std::string, Signs> byKind;
    for (const MeasuredRow& row : rows) {
        const bool block = row.dtype == "fp8_block" && row.framework == "TRTLLM";
        if ((row.dtype != "fp8" && !block) || row.sustained || bench::isTrainingPair(row.n, row.k) ||
            std::min({row.m, row.n, row.k}) < 128 || row.version == "1.3.0rc15" || row.version == "1.3.0rc17")
            continue;
        const auto same = bf16.find({row.device, row.framework, row.m, row.n, row.k});
        if (same == bf16.end())
            continue;
        const double measured = median(same->second) / row.us;
        if (std::abs(measured - 1) <= 0.05)
            continue;
        const GemmKind kind = block                       ? GemmKind::Blockwise
                              : row.framework == "TRTLLM" ? GemmKind::Tensorwise
                                                          : GemmKind::Rowwise;
        const LinearTime time = predictLinear(table.find(row.device), {.shape = {row.m, row.n, row.k}, .recipe = kind});
        Signs& signs = byKind[std::string(toString(kind))];
        ++signs.all;
        signs.right += (time.speedup() > 1) == (measured > 1) ? 1 : 0;
    }
    fmt::print("\nsign of \"fp8 with its quantization is faster\", held-out pairs that differ by over 5%\n");
    for (const auto& [kind, signs] : byKind)
        fmt::print("  {:13} {:5.1f}% of {}\n", kind, 100.0 * signs.right / std::max(1, signs.all), signs.all);
}

/// A published time of a whole layer.
struct Published {
    std::string_view source, device, what;
    double measuredMs;
    double predictedMs;
};

/// Transformer Engine's profiling tutorial: 15,872 tokens through four linear layers, forward, dgrad and wgrad.
double engineLayerMs(const DeviceModel& device, GemmKind recipe, Quantization way, bool bf16)
{
    double us = 0;
    for (const auto& [k, n] : {std::pair{4096, 12288}, {4096, 4096}, {4096, 16384}, {16384, 4096}}) {
        const LinearTime time = predictLinear(device, {.shape = {15872, n, k},
                                                       .recipe = recipe,
                                                       .quantization = way,
                                                       .pass = Pass::Training,
                                                       .clock = Clock::Steady});
        us += bf16 ? time.bf16Us() : time.fp8Us();
    }
    return us * 1e-3;
}

/// torchao's benchmark of one float8 linear 4096 -> 4096, forward and backward: the later of GPU and host.
double torchaoLinearMs(const DeviceModel& device, std::int64_t tokens, Quantization way)
{
    const LinearTime time = predictLinear(
        device, {.shape = {tokens, 4096, 4096}, .quantization = way, .pass = Pass::Training, .clock = Clock::Steady});
    const double hostUs =
        way == Quantization::Eager ? time.launches * device.host.eagerLaunchUs : device.host.compiledCallUs;
    return std::max(hostUs, time.fp8Us()) * 1e-3;
}

/// float8_experimental PR 151 and Llama-70B shapes: (K, N) of one linear layer, 16,384 tokens, compiled.
double llamaLinearMs(const DeviceModel& device, std::int64_t k, std::int64_t n, bool bf16)
{
    const LinearTime time = predictLinear(
        device,
        {.shape = {16384, n, k}, .quantization = Quantization::Static, .pass = Pass::Training, .clock = Clock::Steady});
    return std::max(bf16 ? time.bf16Us() : time.fp8Us(), 0.0) * 1e-3;
}

std::vector<Published> publishedTables(const DeviceTable& table)
{
    const DeviceModel &h200 = table.find("h200-nvl"), &b300 = table.find("b300-sxm"), &h100 = table.find("h100-sxm");
    const auto te = [&](const DeviceModel& d, GemmKind r, Quantization q, bool bf16 = false) {
        return engineLayerMs(d, r, q, bf16);
    };
    using enum GemmKind;
    using enum Quantization;
    std::vector<Published> rows{{"TE tutorial", "h200-nvl", "bf16", 32.014, te(h200, Tensorwise, None, true)},
                                {"TE tutorial", "h200-nvl", "fp8 current", 20.285, te(h200, Tensorwise, Dynamic)},
                                {"TE tutorial", "h200-nvl", "fp8 delayed", 18.978, te(h200, Tensorwise, Static)},
                                {"TE tutorial", "h200-nvl", "fp8 blocks", 22.882, te(h200, Blockwise, Dynamic)},
                                {"TE tutorial", "h200-nvl", "fp8 GEMMs alone", 16.785, te(h200, Tensorwise, None)},
                                {"TE tutorial", "b300-sxm", "bf16", 12.758, te(b300, Tensorwise, None, true)},
                                {"TE tutorial", "b300-sxm", "fp8 current", 9.147, te(b300, Tensorwise, Dynamic)},
                                {"TE tutorial", "b300-sxm", "fp8 delayed", 7.802, te(b300, Tensorwise, Static)},
                                {"TE tutorial", "b300-sxm", "mxfp8", 8.984, te(b300, Mxfp8, Dynamic)},
                                {"TE tutorial", "b300-sxm", "fp8 GEMMs alone", 6.812, te(b300, Tensorwise, None)},
                                {"TE tutorial", "b300-sxm", "mxfp8 GEMMs alone", 7.161, te(b300, Mxfp8, None)}};
    constexpr std::array<std::tuple<std::int64_t, double, double>, 4> kTorchao{
        {{16, 0.649, 0.409}, {256, 0.684, 0.421}, {4096, 1.828, 1.067}, {65536, 22.343, 12.676}}};
    for (const auto& [tokens, eager, compiled] : kTorchao) {
        rows.push_back({"ao PR 1459", "h100-sxm", "eager", eager, torchaoLinearMs(h100, tokens, Eager)});
        rows.push_back({"ao PR 1459", "h100-sxm", "compiled", compiled, torchaoLinearMs(h100, tokens, Dynamic)});
    }
    constexpr std::array<std::tuple<std::int64_t, std::int64_t, double, double>, 3> kLlama{
        {{8192, 1280, 2.120, 2.264}, {1024, 8192, 1.875, 1.739}, {8192, 7168, 10.021, 6.798}}};
    for (const auto& [k, n, bf16, fp8] : kLlama) {
        rows.push_back({"float8 PR 151", "h100-sxm", "bf16", bf16, llamaLinearMs(h100, k, n, true)});
        rows.push_back({"float8 PR 151", "h100-sxm", "fp8 delayed", fp8, llamaLinearMs(h100, k, n, false)});
    }
    return rows;
}

void printPublished(const DeviceTable& table)
{
    fmt::print("\nwhole layers, forward and backward, as published\n");
    std::vector<double> errors;
    for (const Published& row : publishedTables(table)) {
        errors.push_back(std::abs(row.predictedMs / row.measuredMs - 1));
        fmt::print("  {:14} {:9} {:18} measured {:8.3f} ms  predicted {:8.3f} ms  {:+6.1f}%\n", row.source, row.device,
                   row.what, row.measuredMs, row.predictedMs, 100 * (row.predictedMs / row.measuredMs - 1));
    }
    fmt::print("  median {:.1f}%, worst {:.1f}%\n", 100 * median(errors), 100 * *std::ranges::max_element(errors));
}

template <typename Work>
double secondsOf(Work&& work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void printSpeed(const DeviceTable& table)
{
    const DeviceModel& device = table.find("h100-sxm");
    double sum = 0;
    const double sweep = secondsOf([&] {
        for (int i = 0; i < 100'000; ++i)
            sum +=
                predictLinear(device, {.shape = {128 + 16 * (i % 1000), 128 + 128 * (i / 1000), 512 + 8 * (i % 777)}})
                    .speedup();
    });
    plan::MlpConfig config;
    config.widths.assign(1001, 1024);
    const plan::StepPlan plan = plan::buildPlan(config, "fp8");
    const double steps = secondsOf([&] { sum += static_cast<double>(predictStep(plan, device).stepNs); });
    fmt::print("\nspeed: 100,000 shapes {:.2f} s; a plan of 1,000 layers ({} ops) {:.1f} ms (checksum {:.3g})\n", sweep,
               plan.ops.size(), 1e3 * steps, sum);
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        const DeviceTable table = builtInDevices();
        printStoredErrors(table);
        if (argc > 1)
            printSigns(table, bench::readMeasured(argv[1]));
        printPublished(table);
        printSpeed(table);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_predict: {}\n", error.what());
        return 1;
    }
}

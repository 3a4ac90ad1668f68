// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace fp8scope::predict {
namespace {

template <typename Constants>
void writeConstants(std::string& out, std::string_view header, const Constants& constants,
                    std::span<const Parameter<Constants>> parameters)
{
    fmt::format_to(std::back_inserter(out), "[fit.{}]\n", header);
    for (const auto& parameter : parameters)
        fmt::format_to(std::back_inserter(out), "{} = {:.4g}\n", parameter.name, constants.*(parameter.member));
    if constexpr (std::is_same_v<Constants, GemmConstants>)
        fmt::format_to(std::back_inserter(out), "tiles = \"{}\"\nmax_split_k = {}\n", constants.tiles,
                       constants.maxSplitK);
}

}  // namespace

std::string fitsToToml(const DeviceModel& device)
{
    std::string out = fmt::format("[[fit]]\ndevice = \"{}\"\nprovenance = \"{}\"\n", device.spec.id, device.provenance);
    for (std::size_t kind = 0; kind < device.gemm.size(); ++kind) {
        if (device.gemm[kind])
            writeConstants(out, fmt::format("gemm.{}", toString(static_cast<GemmKind>(kind))), *device.gemm[kind],
                           gemmParameters());
    }
    for (std::size_t kind = 0; kind < device.quantizer.size(); ++kind) {
        if (device.quantizer[kind])
            writeConstants(out, fmt::format("quantizer.{}", toString(static_cast<QuantizerKind>(kind))),
                           *device.quantizer[kind], quantizerParameters());
    }
    for (const auto& [kind, c] : device.ops)
        fmt::format_to(std::back_inserter(out),
                       "[fit.op.\"{}\"]\nfloor_us = {:.4g}\nbytes_per_us = {:.4g}\nflops_per_us = {:.4g}\n"
                       "cold_factor = {:.4g}\ncache_bytes = {:.4g}\n",
                       kind, c.floorUs, c.bytesPerUs, c.flopsPerUs, c.coldFactor, c.cacheBytes);
    for (const FitError& error : device.errors) {
        fmt::format_to(std::back_inserter(out),
                       "[[fit.error]]\nwhat = \"{}\"\nsize = \"{}\"\nmedian = {:.4f}\np90 = {:.4f}\nrows = {}\n",
                       error.what, error.sizeClass, error.median, error.p90, error.rows);
        if (error.noiseP90 > 0)
            fmt::format_to(std::back_inserter(out), "noise_median = {:.4f}\nnoise_p90 = {:.4f}\n", error.noiseMedian,
                           error.noiseP90);
    }
    return out;
}

std::string specToToml(const DeviceSpec& spec)
{
    std::string out = "[[device]]\n";
    const auto line = [&](std::string_view key, double value) {
        if (value > 0)
            fmt::format_to(std::back_inserter(out), "{} = {:.6g}\n", key, value);
    };
    fmt::format_to(std::back_inserter(out), "id = \"{}\"\nname = \"{}\"\nsource = \"{}\"\n", spec.id, spec.name,
                   spec.source);
    line("compute_capability", spec.computeCapability);
    line("sms", spec.sms);
    line("boost_mhz", spec.boostMhz);
    line("bf16_tflops", spec.peak16 * 1e-12);
    line("fp8_tflops", spec.peakFp8 * 1e-12);
    line("mxfp8_tflops", spec.peakMxfp8 * 1e-12);
    line("memory_gbs", spec.bandwidth * 1e-9);
    line("l2_mb", spec.l2Bytes * 1e-6);
    line("memory_gb", spec.memoryBytes * 1e-9);
    line("power_w", spec.powerW);
    return out;
}

}  // namespace fp8scope::predict

// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/linear.h"

#include <array>

namespace fp8scope::predict {
namespace {

/// A GEMM and which type it runs in; the three of a training step differ by which extent is reduced.
std::array<GemmShape, 3> gemmsOf(const LinearShape& s)
{
    return {GemmShape{s.m, s.n, s.k}, GemmShape{s.m, s.k, s.n}, GemmShape{s.n, s.k, s.m}};
}

struct Sum {
    double us = 0;
    Bound bound = Bound::Compute;
};

Sum gemmsUs(const DeviceModel& device, const LinearCase& c, GemmKind kind)
{
    const GemmMachine machine = device.machine(kind);
    const GemmConstants& constants = device.constantsOf(kind);
    const auto gemms = gemmsOf(c.shape);
    const std::size_t count = c.pass == Pass::Training ? gemms.size() : 1;
    Sum sum;
    double longest = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const GemmTime time = predictGemm(machine, constants, gemms[i], c.clock);
        sum.us += time.us;
        if (time.us > longest) {
            longest = time.us;
            sum.bound = time.bound;
        }
    }
    return sum;
}

QuantizerKind quantizerOf(GemmKind recipe)
{
    switch (recipe) {
    case GemmKind::Rowwise: return QuantizerKind::Rowwise;
    case GemmKind::Blockwise: return QuantizerKind::Blockwise;
    case GemmKind::Mxfp8: return QuantizerKind::Mxfp8;
    default: return QuantizerKind::Tensorwise;
    }
}

struct Cost {
    double us = 0;
    int launches = 0;
};

/// Streams of so many bytes an element each: one kernel an entry.
template <std::size_t N>
Cost streams(const DeviceModel& device, double elements, const std::array<double, N>& bytes, double fraction)
{
    Cost cost;
    for (const double perElement : bytes)
        cost.us += predictStream(device.machine(GemmKind::Bf16), device.constantsOf(QuantizerKind::Cast),
                                 elements * perElement, fraction)
                       .us;
    cost.launches = static_cast<int>(N);
    return cost;
}

/// Eager torchao, one cast: |x|, max, to fp32, times scale, clamp, to fp8; and the scale's five scalar kernels.
constexpr std::array kEagerCast{4.0, 2.0, 6.0, 8.0, 8.0, 5.0};
constexpr int kEagerScalars = 5;
/// What eager elementwise kernels reach of a plain cast's bandwidth: four measured ones in a row (H100, SGLang's static
/// quantization of 16384 x 8192: 1.19 ms for 21 bytes an element) give 0.77.
constexpr double kEagerFraction = 0.77;
constexpr double kTransposeFraction = 0.6;  ///< strided stores

Cost eagerCast(const DeviceModel& device, double elements)
{
    Cost cost = streams(device, elements, kEagerCast, kEagerFraction);
    cost.us += kEagerScalars * device.constantsOf(QuantizerKind::Cast).floorUs;
    cost.launches += kEagerScalars;
    return cost;
}

/// One tensor on its way into fp8 in a forward pass.
Cost forwardQuantizer(const DeviceModel& device, const LinearCase& c)
{
    const GemmMachine machine = device.machine(GemmKind::Bf16);
    switch (c.quantization) {
    case Quantization::None: return {};
    case Quantization::Eager: return eagerCast(device, static_cast<double>(c.shape.m) * static_cast<double>(c.shape.k));
    case Quantization::Static:
    case Quantization::Fused:
        return {predictQuantizer(machine, device.constantsOf(QuantizerKind::Cast), QuantizerKind::Cast, c.shape.m,
                                 c.shape.k)
                    .us,
                1};
    case Quantization::Dynamic: break;
    }
    const QuantizerKind kind = quantizerOf(c.recipe);
    return {predictQuantizer(machine, device.constantsOf(kind), kind, c.shape.m, c.shape.k).us,
            kind == QuantizerKind::Tensorwise ? 3 : 1};
}

/// One tensor of a training step, quantized for both of the GEMMs that read it (torchao's and Transformer Engine's
/// kernels; resources/help/prediction.md).
Cost trainingQuantizer(const DeviceModel& device, const LinearCase& c, double elements, bool amaxIsFree)
{
    const int cc = device.spec.computeCapability;
    const bool needsTranspose = cc < 100 || cc >= 120;
    const double castBytes = needsTranspose ? 4 : 3;
    if (c.quantization == Quantization::Eager) {
        Cost twice = eagerCast(device, 2 * elements);
        const Cost copy = streams(device, elements, std::array{2.0}, kTransposeFraction);
        return {twice.us + copy.us, 2 * (static_cast<int>(kEagerCast.size()) + kEagerScalars) + copy.launches};
    }
    if (c.recipe == GemmKind::Mxfp8)
        return streams(device, elements, std::array{4 + 2.0 / 32}, 1);
    if (c.recipe == GemmKind::Blockwise)
        return streams(device, elements, std::array{3 + 4.0 / 128, 3 + 4.0 / 128}, 1);
    if (c.recipe == GemmKind::Rowwise)
        return streams(device, elements, std::array{5.0, 3.0}, 1);
    if (c.quantization == Quantization::Static || amaxIsFree)
        return streams(device, elements, std::array{castBytes}, 1);
    return streams(device, elements, std::array{2.0, 0.0, castBytes}, 1);
}

Cost trainingQuantizers(const DeviceModel& device, const LinearCase& c)
{
    if (c.quantization == Quantization::None)
        return {};
    const double m = static_cast<double>(c.shape.m), n = static_cast<double>(c.shape.n),
                 k = static_cast<double>(c.shape.k);
    const bool fused = c.quantization == Quantization::Fused;
    Cost sum;
    for (const auto& [elements, free] : {std::pair{m * k, fused}, {n * k, false}, {m * n, fused}}) {
        const Cost cost = trainingQuantizer(device, c, elements, free);
        sum.us += cost.us;
        sum.launches += cost.launches;
    }
    return sum;
}

}  // namespace

Verdict LinearTime::verdict() const
{
    if (speedup() > 1 + kBreakEvenMargin)
        return Verdict::WorthIt;
    return speedup() < 1 - kBreakEvenMargin ? Verdict::NotWorthIt : Verdict::BreakEven;
}

LinearTime predictLinear(const DeviceModel& device, const LinearCase& c)
{
    const Sum bf16 = gemmsUs(device, c, GemmKind::Bf16);
    const Sum fp8 = gemmsUs(device, c, c.recipe);
    const Cost quantize = c.pass == Pass::Training ? trainingQuantizers(device, c) : forwardQuantizer(device, c);
    return {.bf16GemmUs = bf16.us,
            .fp8GemmUs = fp8.us,
            .quantizeUs = quantize.us,
            .bf16Bound = bf16.bound,
            .fp8Bound = fp8.bound,
            .launches = quantize.launches + (c.pass == Pass::Training ? 3 : 1)};
}

std::string_view toString(Quantization quantization)
{
    constexpr std::array<std::string_view, 5> kWords{"none", "static", "dynamic", "fused", "eager"};
    return kWords[static_cast<std::size_t>(quantization)];
}

std::string_view toString(Verdict verdict)
{
    constexpr std::array<std::string_view, 3> kWords{"worth it", "break-even", "not worth it"};
    return kWords[static_cast<std::size_t>(verdict)];
}

}  // namespace fp8scope::predict

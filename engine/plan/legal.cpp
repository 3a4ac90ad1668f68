// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's rules for a GEMM, as sentences. Source: NVIDIA cuBLAS documentation, "cublasLtMatmul" and "Narrow
// Precision Data Types Usage".
#include "engine/plan/step_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fp8scope::plan {
namespace {

using Refusal = std::optional<std::string>;

constexpr std::int64_t kAlignmentBytes = 16;

bool isFp8Gemm(const GemmCall& gemm) { return isFp8(gemm.a.type) || isFp8(gemm.b.type); }

/// Hopper, Ada and the GeForce Blackwells take fp8 operands contiguous along k only; 10.x and 11.x take any layout.
bool takesAnyFp8Layout(int computeCapability) { return computeCapability >= 100 && computeCapability < 120; }

Refusal deviceRefusal(const GemmCall& gemm, int computeCapability)
{
    if (isFp8Gemm(gemm) && computeCapability < 89)
        return fmt::format("fp8 GEMMs need compute capability 8.9 or newer, this is {}.{}", computeCapability / 10,
                           computeCapability % 10);
    if (gemm.a.type == DType::Bf16 && computeCapability < 80)
        return fmt::format("bf16 GEMMs need compute capability 8.0 or newer, this is {}.{}", computeCapability / 10,
                           computeCapability % 10);
    return {};
}

Refusal fp8TypeRefusal(const GemmCall& gemm)
{
    if (!isFp8(gemm.a.type) || !isFp8(gemm.b.type))
        return fmt::format("{} with {}: an fp8 operand goes with an fp8 operand only", toString(gemm.a.type),
                           toString(gemm.b.type));
    const bool anyE5m2 = gemm.a.type == DType::E5m2 || gemm.b.type == DType::E5m2;
    if (gemm.a.type == DType::E5m2 && gemm.b.type == DType::E5m2)
        return "e5m2 with e5m2 is not supported: one operand must be e4m3";
    switch (gemm.d.type) {
    case DType::Bf16:
    case DType::F32:
    case DType::E4m3: return {};
    case DType::E5m2:
        if (anyE5m2)
            return {};
        return "an e5m2 result needs an e5m2 operand";
    default: return fmt::format("fp8 operands do not give a {} result", toString(gemm.d.type));
    }
}

Refusal typeRefusal(const GemmCall& gemm)
{
    if (isFp8Gemm(gemm))
        return fp8TypeRefusal(gemm);
    if (gemm.a.type != gemm.b.type)
        return fmt::format("operands of different types, {} and {}", toString(gemm.a.type), toString(gemm.b.type));
    const bool bf16 = gemm.a.type == DType::Bf16 && (gemm.d.type == DType::Bf16 || gemm.d.type == DType::F32);
    const bool f32 = gemm.a.type == DType::F32 && gemm.d.type == DType::F32;
    if (!bf16 && !f32)
        return fmt::format("{} operands do not give a {} result", toString(gemm.a.type), toString(gemm.d.type));
    return {};
}

Refusal shapeRefusal(const GemmCall& gemm)
{
    const std::int64_t aM = gemm.transA ? gemm.a.cols : gemm.a.rows;
    const std::int64_t bK = gemm.transB ? gemm.b.cols : gemm.b.rows;
    const std::int64_t bN = gemm.transB ? gemm.b.rows : gemm.b.cols;
    if (gemm.m() < 1 || gemm.n() < 1 || gemm.k() < 1)
        return "every dimension must be at least 1";
    if (aM != gemm.m() || bN != gemm.n() || bK != gemm.k())
        return fmt::format("shapes do not fit: op(A) is {} x {}, op(B) {} x {}, D {} x {}", aM, gemm.k(), bK, bN,
                           gemm.m(), gemm.n());
    for (const auto& [name, layout] : {std::pair("A", gemm.a), std::pair("B", gemm.b), std::pair("D", gemm.d)}) {
        if (layout.ld < layout.rows)
            return fmt::format("the leading dimension of {}, {}, is less than its {} rows", name, layout.ld,
                               layout.rows);
    }
    return {};
}

Refusal layoutRefusal(const GemmCall& gemm, int computeCapability)
{
    if (!isFp8Gemm(gemm) || takesAnyFp8Layout(computeCapability) || (gemm.transA && !gemm.transB))
        return {};
    return fmt::format("layout {}{}: fp8 operands must be TN on compute capability {}.{}", gemm.transA ? 'T' : 'N',
                       gemm.transB ? 'T' : 'N', computeCapability / 10, computeCapability % 10);
}

/// Rows and leading dimensions of an fp8 GEMM's matrices must be multiples of 16 bytes. (For 16-bit GEMMs this is a
/// matter of speed, not of legality.)
Refusal alignmentRefusal(const GemmCall& gemm)
{
    if (!isFp8Gemm(gemm))
        return {};
    for (const auto& [name, layout] : {std::pair("A", gemm.a), std::pair("B", gemm.b), std::pair("D", gemm.d)}) {
        const auto size = static_cast<std::int64_t>(sizeOf(layout.type));
        if (layout.rows * size % kAlignmentBytes != 0)
            return fmt::format("{} has {} {} rows, {} bytes: not a multiple of 16 bytes", name, layout.rows,
                               toString(layout.type), layout.rows * size);
        if (layout.ld * size % kAlignmentBytes != 0)
            return fmt::format("{} has leading dimension {} in {}, {} bytes: not a multiple of 16 bytes", name,
                               layout.ld, toString(layout.type), layout.ld * size);
    }
    return {};
}

struct ScaledOperand {
    const char* name;
    DType type;
    ScaleMode mode;
    TensorId scale;
};

std::array<ScaledOperand, 2> scaledOperands(const GemmCall& gemm)
{
    return {ScaledOperand{"A", gemm.a.type, gemm.aScaleMode, gemm.aScale},
            ScaledOperand{"B", gemm.b.type, gemm.bScaleMode, gemm.bScale}};
}

Refusal scaleRefusal(const GemmCall& gemm)
{
    for (const ScaledOperand& operand : scaledOperands(gemm)) {
        if (operand.mode == ScaleMode::None && operand.scale.valid())
            return fmt::format("{} has a scale but no scale mode", operand.name);
        if (operand.mode == ScaleMode::None)
            continue;  // of an fp8 operand: a factor of 1
        if (!isFp8(operand.type))
            return fmt::format("{} is {}: only fp8 operands take a scale", operand.name, toString(operand.type));
        if (!operand.scale.valid())
            return fmt::format("{} has a scale mode but no scale", operand.name);
    }
    return {};
}

bool isOf128(ScaleMode mode) { return mode == ScaleMode::Vec128_32F || mode == ScaleMode::Blk128x128_32F; }
bool isTensorWide(ScaleMode mode) { return mode == ScaleMode::None || mode == ScaleMode::Scalar32F; }

/// Which modes go together: both operands with row scales or both with mxfp8's; 1x128 blocks with 1x128 or 128x128
/// ones.
Refusal scalePairRefusal(const GemmCall& gemm)
{
    const ScaleMode a = gemm.aScaleMode, b = gemm.bScaleMode;
    if (a == ScaleMode::Blk128x128_32F && b == ScaleMode::Blk128x128_32F)
        return "scales for 128x128 blocks on both sides: one operand must have 1x128 blocks";
    const bool together = (isTensorWide(a) && isTensorWide(b)) || (isOf128(a) && isOf128(b)) || a == b;
    if (!together)
        return fmt::format("{} scales with {} scales: both operands must have the same kind", toString(a), toString(b));
    if (isTensorWide(a))
        return {};
    if (isFp8(gemm.d.type) && a != ScaleMode::Vec32Ue8m0)
        return fmt::format("{} scales do not give an fp8 result", toString(a));
    if (isOf128(a) && (gemm.m() % 4 != 0 || gemm.n() % 4 != 0))
        return fmt::format("128-element scale blocks need m and n that are multiples of 4, these are {} and {}",
                           gemm.m(), gemm.n());
    if (a == ScaleMode::Vec32Ue8m0 && gemm.k() % 32 != 0)
        return fmt::format("32-element scale blocks need a k that is a multiple of 32, this is {}", gemm.k());
    return {};
}

/// Scales for rows and 128-element blocks are Hopper's (cuBLAS 12.9), mxfp8's Blackwell's (cuBLAS 12.8).
Refusal scaleDeviceRefusal(const GemmCall& gemm, int computeCapability)
{
    for (const ScaledOperand& operand : scaledOperands(gemm)) {
        if (isTensorWide(operand.mode))
            continue;
        const bool mxfp8 = operand.mode == ScaleMode::Vec32Ue8m0;
        if (mxfp8 ? computeCapability < 100 : computeCapability != 90)
            return fmt::format("{} scales need compute capability {}, this is {}.{}", toString(operand.mode),
                               mxfp8 ? "10.0 or newer" : "9.0", computeCapability / 10, computeCapability % 10);
    }
    return {};
}

Refusal epilogueRefusal(const GemmCall& gemm)
{
    if (!addsBias(gemm.epilogue))
        return gemm.bias.valid()
                   ? Refusal(fmt::format("a bias is given but the epilogue is {}", toString(gemm.epilogue)))
                   : Refusal();
    if (!gemm.bias.valid())
        return "the epilogue adds a bias but none is given";
    const DType wanted = isFp8Gemm(gemm) ? DType::Bf16 : gemm.d.type;
    if (gemm.biasType != wanted)
        return fmt::format("the bias is {}, must be {} for {} operands and a {} result", toString(gemm.biasType),
                           toString(wanted), toString(gemm.a.type), toString(gemm.d.type));
    return {};
}

/// cublasLtEpilogue_t: the auxiliary output's leading dimension is a multiple of 128 bits for relu, of 8 elements for
/// gelu; with fp8, activations are for scales of whole tensors.
Refusal auxRefusal(const GemmCall& gemm)
{
    const Activation activation = activationOf(gemm.epilogue);
    if (writesAux(gemm.epilogue) != gemm.aux.valid())
        return gemm.aux.valid() ? "an auxiliary output is given but the epilogue has none"
                                : "the epilogue has an auxiliary output but none is given";
    const bool tensorWide = isTensorWide(gemm.aScaleMode) && isTensorWide(gemm.bScaleMode);
    if (activation != Activation::None && isFp8Gemm(gemm) && !tensorWide)
        return "an activation epilogue of fp8 operands needs one scale for each whole operand";
    if (!gemm.aux.valid())
        return {};
    const std::int64_t multiple = activation == Activation::Relu ? 128 : 8;
    if (gemm.auxLd < gemm.m() || gemm.auxLd % multiple != 0)
        return fmt::format("the auxiliary output's leading dimension {} must be a multiple of {} and at least {}",
                           gemm.auxLd, multiple, gemm.m());
    return {};
}

Refusal accumulationRefusal(const GemmCall& gemm)
{
    if (gemm.beta != 0 && isFp8(gemm.d.type))
        return "an fp8 result cannot be accumulated into (beta must be 0)";
    if (gemm.fastAccumulation && !isFp8Gemm(gemm))
        return "fast accumulation is for fp8 operands only";
    return {};
}

}  // namespace

std::optional<std::string> refusal(const GemmCall& gemm, int computeCapability)
{
    if (Refusal why = deviceRefusal(gemm, computeCapability))
        return why;
    if (Refusal why = layoutRefusal(gemm, computeCapability))
        return why;
    for (const auto rule : {typeRefusal, shapeRefusal, alignmentRefusal, scaleRefusal, scalePairRefusal,
                            epilogueRefusal, auxRefusal, accumulationRefusal}) {
        if (Refusal why = rule(gemm))
            return why;
    }
    return scaleDeviceRefusal(gemm, computeCapability);
}

std::string_view toString(ScaleMode mode)
{
    switch (mode) {
    case ScaleMode::None: return "unit";
    case ScaleMode::Scalar32F: return "tensor";
    case ScaleMode::OuterVec32F: return "row";
    case ScaleMode::Vec128_32F: return "1x128";
    case ScaleMode::Blk128x128_32F: return "128x128";
    case ScaleMode::Vec32Ue8m0: return "mxfp8";
    }
    return "?";
}

std::vector<int> computeCapabilities(const StepPlan& plan)
{
    std::vector<int> running;
    for (const int candidate : {80, 89, 90, 100, 103, 110, 120}) {
        const bool all = std::all_of(plan.ops.begin(), plan.ops.end(), [&](const Op& op) {
            return !op.gemm || !refusal(*op.gemm, candidate).has_value();
        });
        if (all)
            running.push_back(candidate);
    }
    return running;
}

int targetOf(RecipeKind kind) { return kind == RecipeKind::Mxfp8 ? 100 : 90; }

}  // namespace fp8scope::plan

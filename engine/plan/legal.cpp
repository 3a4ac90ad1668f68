// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's rules for a GEMM, as sentences. Source: NVIDIA cuBLAS documentation, "cublasLtMatmul" and "Narrow
// Precision Data Types Usage".
#include "engine/plan/step_plan.h"

#include <fmt/format.h>

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

Refusal scaleRefusal(const GemmCall& gemm)
{
    struct Operand {
        const char* name;
        DType type;
        ScaleMode mode;
        TensorId scale;
    };
    for (const Operand& operand : std::array{Operand{"A", gemm.a.type, gemm.aScaleMode, gemm.aScale},
                                             Operand{"B", gemm.b.type, gemm.bScaleMode, gemm.bScale}}) {
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

Refusal epilogueRefusal(const GemmCall& gemm)
{
    if (gemm.epilogue == Epilogue::None)
        return gemm.bias.valid() ? Refusal("a bias is given but the epilogue is none") : Refusal();
    if (!gemm.bias.valid())
        return "the epilogue adds a bias but none is given";
    const DType wanted = isFp8Gemm(gemm) ? DType::Bf16 : gemm.d.type;
    if (gemm.biasType != wanted)
        return fmt::format("the bias is {}, must be {} for {} operands and a {} result", toString(gemm.biasType),
                           toString(wanted), toString(gemm.a.type), toString(gemm.d.type));
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
    for (const auto rule :
         {typeRefusal, shapeRefusal, alignmentRefusal, scaleRefusal, epilogueRefusal, accumulationRefusal}) {
        if (Refusal why = rule(gemm))
            return why;
    }
    return {};
}

}  // namespace fp8scope::plan

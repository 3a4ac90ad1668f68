// SPDX-License-Identifier: Apache-2.0
// Executes the GEMM calls of a plan through oneDNN, as cuBLASLt would mean them: column-major layouts, transposes,
// leading dimensions, dequantization factors, alpha and beta, epilogues, fp32 accumulation, one rounding to D's type.
// Activations are applied to the rounded sum, so that results are those of separate kernels bit for bit; cuBLASLt
// applies them before it rounds.
#pragma once

#include "engine/kernels/cpu_kernels.h"
#include "engine/plan/step_plan.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace fp8scope::cpu {

/// The type in which oneDNN is given the operands. Both are exact for fp8 and bf16 operands and accumulate in fp32.
enum class GemmArithmetic : std::uint8_t { F32, Bf16 };

/// Bf16 where oneDNN multiplies bf16 with instructions of its own (AVX512_BF16, AMX), else F32. Measured with
/// oneDNN 2.6 on 1024^3: 2.0 times f32's rate with AVX512_BF16; without, the bf16 path is emulated and reaches a fifth
/// of f32's. A rule and not a timing, so that the same machine always computes the same results.
[[nodiscard]] GemmArithmetic nativeGemmArithmetic();

/// What a call's scales are known to be. With powers of two, decoding fp8 into bf16 stays exact, and so the call can be
/// multiplied in bf16 although its operands' scales differ within them.
enum class ScaleValues : std::uint8_t { Any, PowersOfTwo };

/// Where a call's operands stand. Scales and bias may be null when the call has none.
struct GemmBuffers {
    const std::byte* a = nullptr;
    const std::byte* b = nullptr;
    std::byte* d = nullptr;
    const std::byte* aScale = nullptr;  ///< as the call's scale mode lays them out
    const std::byte* bScale = nullptr;
    const std::byte* bias = nullptr;
    std::byte* aux = nullptr;                         ///< of epilogues with an auxiliary output
    const kernels::Activation* activation = nullptr;  ///< of epilogues with an activation: of the call's kind
};

/// Index of a prepared call.
struct GemmHandle {
    std::size_t index = 0;
};

/// Prepares each call once (primitive, scratch for decoded operands) and runs it many times. Not for use by several
/// threads at once. The kernels must outlive it.
class GemmRunner {
public:
    GemmRunner(const kernels::CpuKernels&, GemmArithmetic);
    ~GemmRunner();
    GemmRunner(GemmRunner&&) noexcept;
    GemmRunner& operator=(GemmRunner&&) noexcept;

    /// Operands f32, bf16 or fp8, those with more than one scale TN and without gaps; D f32 or bf16. Throws Error for
    /// what oneDNN or this class cannot do.
    [[nodiscard]] GemmHandle prepare(const plan::GemmCall&, ScaleValues = ScaleValues::Any);
    void run(GemmHandle, const GemmBuffers&);

    /// Nanoseconds spent inside oneDNN since construction (decoding and encoding not included).
    [[nodiscard]] std::int64_t libraryNs() const;
    /// Bytes of the scratch buffers that the calls share.
    [[nodiscard]] std::size_t scratchBytes() const;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Bytes of scratch that a runner would need for the calls (for the memory check before anything is allocated).
[[nodiscard]] std::size_t gemmScratchBytes(std::span<const plan::Op>, GemmArithmetic, ScaleValues = ScaleValues::Any);

}  // namespace fp8scope::cpu

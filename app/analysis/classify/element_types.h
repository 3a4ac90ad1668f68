// SPDX-License-Identifier: Apache-2.0
// The element types that a kernel's name tells: by GEMM libraries' tokens, or by the C++ types in template arguments.
#pragma once

#include "app/analysis/classify/kernel_name.h"
#include "collector/trace/words.h"

#include <string_view>

namespace fp8scope::analysis {

/// An element type as the trace spells it; empty where the name does not tell.
struct GemmTypes {
    std::string_view a, b,
        d;  ///< operands and result: "e4m3", "e5m2", "e2m1", "bf16", "f16", "tf32", "f32", "f64", "int8"
    friend bool operator==(const GemmTypes&, const GemmTypes&) = default;
};

/// Of a matrix multiplication's name, by whose grammar it is written: cuBLAS and CUTLASS 2 ("s16816gemm_bf16"), CUTLASS
/// 3
/// ("gemm_e4m3_e4m3_f32_bf16_bf16"), xmma ("gemm_e4m3bf16_e4m3f32_f32"), TensorRT-LLM ("bmm_Bfloat16_E4m3E4m3_Fp32"),
/// Tensile ("Cijk_Alik_Bljk_F8BS"), Triton's matmul_ogs ("bf16xbf16xmxfp4"), else the C++ types in it, in their order.
/// Scale types (ue8m0, ue4m3) are none of the operands' types.
[[nodiscard]] GemmTypes gemmTypes(const KernelName&);

/// fp4 if either operand is, else fp8 if either is, else a's.
[[nodiscard]] Precision precisionOf(const GemmTypes&);

/// Of any other kernel: the narrowest floating-point element type in its name (accumulators are wider); int8 only where
/// no other is. Unknown where the name tells none.
[[nodiscard]] Precision elementPrecision(const KernelName&);

/// The precision of one spelling of GemmTypes.
[[nodiscard]] Precision precisionOfElement(std::string_view type);

}  // namespace fp8scope::analysis

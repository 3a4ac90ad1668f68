// SPDX-License-Identifier: Apache-2.0
// The number formats: their names, sizes and limits, and scalar conversions that define the results bit for bit.
// Header-only and host/device neutral, so kernel bodies share it.
#pragma once

#include <cstdint>
#include <string_view>

namespace fp8scope {

enum class DType : std::uint8_t { F32, F64, Bf16, E4m3, E5m2, I32 };

[[nodiscard]] constexpr std::uint32_t sizeOf(DType type)
{
    switch (type) {
    case DType::F64: return 8;
    case DType::F32:
    case DType::I32: return 4;
    case DType::Bf16: return 2;
    case DType::E4m3:
    case DType::E5m2: return 1;
    }
    return 0;
}
[[nodiscard]] constexpr bool isFp8(DType type) { return type == DType::E4m3 || type == DType::E5m2; }

[[nodiscard]] constexpr std::string_view toString(DType type)
{
    switch (type) {
    case DType::F32: return "f32";
    case DType::F64: return "f64";
    case DType::Bf16: return "bf16";
    case DType::E4m3: return "e4m3";
    case DType::E5m2: return "e5m2";
    case DType::I32: return "i32";
    }
    return "?";
}

/// Largest finite value: 448 (e4m3, no infinities) and 57344 (e5m2).
[[nodiscard]] constexpr float fp8Max(DType type) { return type == DType::E4m3 ? 448.0F : 57344.0F; }

}  // namespace fp8scope

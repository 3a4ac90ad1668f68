// SPDX-License-Identifier: Apache-2.0
// The memory of a plan's tensors: one allocation, tensors at the offsets that the plan's memory planner chose.
#pragma once

#include "engine/cpu/aligned_bytes.h"
#include "engine/kernels/cpu_kernels.h"
#include "engine/plan/step_plan.h"

#include <cstring>
#include <span>
#include <vector>

namespace fp8scope::cpu {

/// Typed access to tensors by id. The plan must outlive it. Spans are valid as long as the arena.
class Arena {
public:
    /// Allocates the plan's arenaBytes; persistent tensors get their initialValue, all others are zero.
    explicit Arena(const plan::StepPlan&);

    [[nodiscard]] std::size_t size() const { return m_memory.size(); }  ///< bytes
    [[nodiscard]] std::span<std::byte> bytes(plan::TensorId);
    [[nodiscard]] std::span<float> f32(plan::TensorId id) { return as<float>(id, DType::F32); }
    [[nodiscard]] std::span<double> f64(plan::TensorId id) { return as<double>(id, DType::F64); }
    [[nodiscard]] std::span<std::int32_t> i32(plan::TensorId id) { return as<std::int32_t>(id, DType::I32); }
    [[nodiscard]] std::span<kernels::Bf16> bf16(plan::TensorId id) { return as<kernels::Bf16>(id, DType::Bf16); }
    [[nodiscard]] std::span<std::uint8_t> e8m0(plan::TensorId id);
    [[nodiscard]] std::span<kernels::Fp8> fp8(plan::TensorId);

    /// A scalar tensor of any floating type.
    [[nodiscard]] double scalar(plan::TensorId);
    void setScalar(plan::TensorId, double);

    /// A tensor's elements as floats (fp8 and bf16 decoded, scales not applied), and back (rounded to the tensor's
    /// type).
    [[nodiscard]] std::vector<float> read(plan::TensorId);
    void write(plan::TensorId, std::span<const float>);

private:
    template <typename T>
    [[nodiscard]] std::span<T> as(plan::TensorId, DType expected);

    const plan::StepPlan* m_plan;
    AlignedBytes m_memory;
};

}  // namespace fp8scope::cpu

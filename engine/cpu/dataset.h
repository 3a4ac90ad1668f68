// SPDX-License-Identifier: Apache-2.0
// The training data: inputs drawn from N(0, 1), targets made by a seeded teacher network of the same widths. The
// student can learn them, so a falling loss means learning.
#pragma once

#include "engine/cpu/aligned_bytes.h"
#include "engine/kernels/cpu_kernels.h"
#include "engine/plan/step_plan.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace fp8scope::cpu {

/// One batch as the plan's input and target tensors hold it.
struct Batch {
    std::span<const std::byte> input;   ///< bf16 [batch, first width]
    std::span<const std::byte> target;  ///< f32 [batch, last width], or i32 classes [batch]
};

class Dataset {
public:
    /// `datasetBatches` batches from the config's seed. Mean squared error: targets are the teacher's outputs.
    /// Cross-entropy: the class with the teacher's largest output.
    Dataset(const plan::StepPlan&, const kernels::CpuKernels&);

    /// A micro-batch of a step's batch: batches in turn, from the first again.
    [[nodiscard]] Batch batch(std::int64_t step, int microBatch = 0) const;

    [[nodiscard]] std::size_t size() const { return m_inputs.size() + m_targets.size(); }  ///< bytes

    /// Bytes that a plan's data set keeps, and the most that making it takes on top.
    [[nodiscard]] static std::size_t keptBytes(const plan::StepPlan&);
    [[nodiscard]] static std::size_t teacherBytes(const plan::MlpConfig&);

private:
    std::size_t m_batches = 0, m_microBatches = 1;
    std::size_t m_inputBytes = 0, m_targetBytes = 0;  // of one batch
    AlignedBytes m_inputs, m_targets;
};

}  // namespace fp8scope::cpu

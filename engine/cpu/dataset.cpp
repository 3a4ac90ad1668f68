// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/dataset.h"

#include "engine/cpu/parallel_for.h"
#include "engine/cpu/random.h"
#include "engine/cpu/teacher.h"

#include <algorithm>
#include <cstring>

namespace fp8scope::cpu {

namespace {

constexpr std::int64_t kGrain = 1 << 12;

/// The column of each row's largest value.
void largestOfRows(std::span<const float> values, std::span<std::int32_t> labels)
{
    const std::size_t cols = values.size() / labels.size();
    for (std::size_t row = 0; row < labels.size(); ++row) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * cols);
        labels[row] =
            static_cast<std::int32_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(cols)) - begin);
    }
}

}  // namespace

Dataset::Dataset(const plan::StepPlan& plan, const kernels::CpuKernels& kernels)
    : m_batches(static_cast<std::size_t>(plan.config.datasetBatches)),
      m_microBatches(static_cast<std::size_t>(plan.config.microBatches)),
      m_inputBytes(plan.tensor(plan.input).bytes() * m_microBatches),
      m_targetBytes(plan.tensor(plan.target).bytes() * m_microBatches), m_inputs(m_batches * m_inputBytes),
      m_targets(m_batches * m_targetBytes)
{
    const std::span inputs(reinterpret_cast<kernels::Bf16*>(m_inputs.data()), m_inputs.size() / sizeof(kernels::Bf16));
    const RandomStream random(plan.config.seed, kInputStream);
    parallelFor(static_cast<std::int64_t>(inputs.size()), kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
            inputs[i] = encodeBf16(random.normal(i));
    });

    Teacher teacher(plan.config, kernels);
    const std::size_t inputsEach = m_inputBytes / sizeof(kernels::Bf16);
    for (std::size_t b = 0; b < m_batches; ++b) {
        const std::span<const float> outputs = teacher.outputs(inputs.subspan(b * inputsEach, inputsEach));
        std::byte* const target = m_targets.data() + b * m_targetBytes;
        if (plan.config.loss == plan::Loss::SoftmaxCrossEntropy)
            largestOfRows(outputs, {reinterpret_cast<std::int32_t*>(target), m_targetBytes / sizeof(std::int32_t)});
        else
            std::memcpy(target, outputs.data(), m_targetBytes);
    }
}

Batch Dataset::batch(std::int64_t step, int microBatch) const
{
    const std::size_t b = static_cast<std::size_t>(step) % m_batches, part = static_cast<std::size_t>(microBatch);
    const std::size_t inputBytes = m_inputBytes / m_microBatches, targetBytes = m_targetBytes / m_microBatches;
    return {{m_inputs.data() + b * m_inputBytes + part * inputBytes, inputBytes},
            {m_targets.data() + b * m_targetBytes + part * targetBytes, targetBytes}};
}

std::size_t Dataset::keptBytes(const plan::StepPlan& plan)
{
    return static_cast<std::size_t>(plan.config.datasetBatches) * static_cast<std::size_t>(plan.config.microBatches) *
           (plan.tensor(plan.input).bytes() + plan.tensor(plan.target).bytes());
}

std::size_t Dataset::teacherBytes(const plan::MlpConfig& config) { return Teacher::bytes(config); }

}  // namespace fp8scope::cpu

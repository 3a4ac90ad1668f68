// SPDX-License-Identifier: Apache-2.0
// A plan's ops once more, in plain double-precision loops: what each op must make of the operands that the executor
// had.
#pragma once

#include "engine/cpu/cpu_executor.h"
#include "engine/plan/step_plan.h"

#include <vector>

namespace fp8scope::cpu {

/// What an op must write. `tolerance` has an entry for each value, or is empty where the result is exact.
struct Expected {
    plan::TensorId tensor;
    std::vector<double> values, tolerance;
};

/// Follows one step of an executor whose plan was built with keepTensors: made before the step, asked after it, op by
/// op in order. Operands are the executor's own results, so errors do not add up from op to op; where an op overwrites
/// its operand or a persistent tensor, the value from before is kept here.
class ReferenceStep {
public:
    explicit ReferenceStep(CpuExecutor& before);

    /// After runStep(): what the op must have written. Not for LoadBatch, whose outputs are given.
    [[nodiscard]] std::vector<Expected> expect(const plan::Op&);

    /// False for a tensor whose contents after the step are not those after `op`, because a later op overwrites it.
    [[nodiscard]] bool survives(const plan::Op&, plan::TensorId) const;

    [[nodiscard]] std::vector<double> valuesAfterStep(plan::TensorId) const;

private:
    [[nodiscard]] std::vector<double> operand(plan::TensorId) const;
    [[nodiscard]] double scalar(plan::TensorId id) const { return operand(id)[0]; }
    void remember(const Expected&);

    /// A number for each element of `matrix`, from a tensor with one for all, for each row or for each column.
    [[nodiscard]] std::vector<double> spread(plan::TensorId numbers, plan::TensorId matrix) const;
    /// The largest magnitudes that `amax` asks for by its shape, of x shaped like `matrix`.
    [[nodiscard]] Expected amaxOf(plan::TensorId amax, plan::TensorId matrix, const std::vector<double>& x) const;
    /// A GEMM operand's dequantization factors, one for each element of its column-major k x outer matrix.
    [[nodiscard]] std::vector<double> factors(ScaleMode, plan::TensorId scale, const plan::MatrixLayout&) const;
    [[nodiscard]] std::vector<Expected> blockCast(const plan::Op&, const std::vector<double>& x) const;
    [[nodiscard]] Expected rescaled(const plan::Op&) const;
    [[nodiscard]] Expected product(const plan::GemmCall&) const;
    [[nodiscard]] std::vector<Expected> gemm(const plan::GemmCall&) const;
    [[nodiscard]] bool maskBit(plan::TensorId mask, std::size_t row, std::size_t col) const;
    [[nodiscard]] Expected elementwise(const plan::Op&) const;
    [[nodiscard]] Expected scalarOp(const plan::Op&) const;
    [[nodiscard]] std::vector<Expected> castTranspose(const plan::Op&, const std::vector<double>& x) const;
    [[nodiscard]] std::vector<Expected> scaleFromAmax(const plan::Op&) const;
    [[nodiscard]] Expected transpose(plan::TensorId to, const std::vector<double>& x, std::int64_t rows,
                                     std::int64_t cols) const;
    [[nodiscard]] Expected columnSums(plan::TensorId x, plan::TensorId to) const;
    [[nodiscard]] Expected columnSums(const std::vector<double>& x, plan::TensorId to) const;
    [[nodiscard]] std::vector<double> activated(plan::TensorId z) const;
    [[nodiscard]] std::vector<double> activationUndone(const plan::Op&) const;
    [[nodiscard]] std::vector<Expected> quantization(plan::TensorId q, plan::TensorId transposed, plan::TensorId amax,
                                                     const std::vector<double>& x, double scale, DType) const;
    [[nodiscard]] std::vector<Expected> loss(const plan::Op&) const;
    [[nodiscard]] std::vector<Expected> optimizer(const plan::Op&) const;
    [[nodiscard]] std::vector<Expected> castOfUpdate(const plan::Op&) const;
    [[nodiscard]] std::vector<Expected> delayedUpdate(const plan::Op&) const;

    CpuExecutor& m_executor;
    const plan::StepPlan& m_plan;
    /// Contents as they are for the next op to expect, where these are not the executor's after the step. By tensor;
    /// empty: none.
    std::vector<std::vector<double>> m_kept;
};

}  // namespace fp8scope::cpu

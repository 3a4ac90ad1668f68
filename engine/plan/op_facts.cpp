// SPDX-License-Identifier: Apache-2.0
// One row per op kind: its word, its role, what is fused into it and its arithmetic per element.
// A fused kernel's primary role is the part that would be there without fp8: an activation that also casts stays an
// activation, so that families compare across modes; what was fused in stands beside it.
#include "engine/plan/op_facts.h"

#include <array>
#include <cassert>
#include <initializer_list>

namespace fp8scope::plan {
namespace {

constexpr RoleSet roles(std::initializer_list<Role> list)
{
    RoleSet set;
    for (const Role role : list)
        set.insert(role);
    return set;
}

struct KindFacts {
    OpKind kind;
    std::string_view word;
    Role role;
    RoleSet fused;
    double flopsPerElement;  ///< of the first operand; activations and optimizers add theirs
};

constexpr double kCastFlops = 3;  // scale, and clamp from both sides
constexpr double kAmaxFlops = 2;  // absolute value, maximum

constexpr std::array kKinds{
    KindFacts{OpKind::LoadBatch, "load_batch", Role::Copy, {}, 0},
    KindFacts{OpKind::Gemm, "gemm", Role::Gemm, {}, 0},
    KindFacts{OpKind::Abs, "abs", Role::Amax, {}, 1},
    KindFacts{OpKind::MaxReduce, "max_reduce", Role::Amax, {}, 1},
    KindFacts{OpKind::ScalarToF64, "scalar_to_f64", Role::Scale, {}, 0},
    KindFacts{OpKind::ScalarClampMin, "scalar_clamp_min", Role::Scale, {}, 1},
    KindFacts{OpKind::ScalarReciprocal, "scalar_reciprocal", Role::Scale, {}, 1},
    KindFacts{OpKind::ScalarMul, "scalar_mul", Role::Scale, {}, 1},
    KindFacts{OpKind::ScalarToF32, "scalar_to_f32", Role::Scale, {}, 0},
    KindFacts{OpKind::ScalarLog2, "scalar_log2", Role::Scale, {}, 1},
    KindFacts{OpKind::ScalarFloor, "scalar_floor", Role::Scale, {}, 1},
    KindFacts{OpKind::ScalarExp2, "scalar_exp2", Role::Scale, {}, 1},
    KindFacts{OpKind::ToF32, "to_f32", Role::Cast, {}, 0},
    KindFacts{OpKind::MulScale, "mul_scale", Role::Cast, {}, 1},
    KindFacts{OpKind::Clamp, "clamp", Role::Cast, {}, 2},
    KindFacts{OpKind::ToFp8, "to_fp8", Role::Cast, {}, 0},
    KindFacts{OpKind::Amax, "amax", Role::Amax, {}, kAmaxFlops},
    KindFacts{OpKind::ScaleFromAmax, "scale_from_amax", Role::Scale, {}, 4},
    KindFacts{OpKind::Cast, "cast", Role::Cast, {}, kCastFlops},
    KindFacts{OpKind::Transpose, "transpose", Role::Transpose, {}, 0},
    KindFacts{OpKind::CastTranspose, "cast_transpose", Role::CastTranspose, {}, kCastFlops},
    KindFacts{OpKind::CastTransposeDbias, "cast_transpose_dbias", Role::CastTranspose, roles({Role::BiasGrad}),
              kCastFlops + 1},
    KindFacts{OpKind::BlockCast, "block_cast", Role::Cast, roles({Role::Amax, Role::Scale}), kAmaxFlops + kCastFlops},
    KindFacts{OpKind::ScaleLayout, "scale_layout", Role::ScaleLayout, {}, 0},
    KindFacts{OpKind::RescaleOutput, "rescale_output", Role::Scale, {}, 2},
    KindFacts{OpKind::BiasAdd, "bias_add", Role::Bias, {}, 1},
    KindFacts{OpKind::BiasGrad, "bias_grad", Role::BiasGrad, {}, 1},
    KindFacts{OpKind::ActForward, "act_forward", Role::Activation, {}, 0},
    KindFacts{OpKind::ActAmax, "act_amax", Role::Activation, roles({Role::Amax}), kAmaxFlops},
    KindFacts{OpKind::ActCastTranspose, "act_cast_transpose", Role::Activation,
              roles({Role::Amax, Role::CastTranspose}), kAmaxFlops + kCastFlops},
    KindFacts{OpKind::ActBlockCast, "act_block_cast", Role::Activation,
              roles({Role::Amax, Role::Scale, Role::CastTranspose}), kAmaxFlops + kCastFlops},
    KindFacts{OpKind::ActBackward, "act_backward", Role::ActivationGrad, {}, 0},
    KindFacts{OpKind::ActBackwardAmax, "act_backward_amax", Role::ActivationGrad, roles({Role::Amax}), kAmaxFlops},
    KindFacts{OpKind::ActBackwardCastTranspose, "act_backward_cast_transpose", Role::ActivationGrad,
              roles({Role::CastTranspose}), kCastFlops},
    KindFacts{OpKind::Loss, "loss", Role::Loss, {}, 5},
    KindFacts{OpKind::OptimizerStep, "optimizer_step", Role::Optimizer, {}, 0},
    KindFacts{OpKind::OptimizerCast, "optimizer_cast", Role::Optimizer, roles({Role::Amax, Role::CastTranspose}), 0},
    KindFacts{OpKind::DelayedScaleUpdate, "delayed_scale_update", Role::Scale, roles({Role::Amax}), 0},
};

constexpr bool rowsMatchKinds()
{
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
        if (kKinds[i].kind != static_cast<OpKind>(i))
            return false;
    }
    return kKinds.size() == static_cast<std::size_t>(OpKind::DelayedScaleUpdate) + 1;
}
static_assert(rowsMatchKinds(), "kKinds holds every OpKind at its own position");

const KindFacts& factsOf(OpKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

bool writesAmax(const Op& op)
{
    if (op.kind != OpKind::CastTranspose && op.kind != OpKind::CastTransposeDbias &&
        op.kind != OpKind::ActBackwardCastTranspose)
        return false;
    assert(op.outputs.size() >= 3);
    return op.outputs[2].valid();
}

/// A block cast that writes the transpose is a cast with transpose; one may sum the bias gradient, too.
void deriveBlockCast(Op& op)
{
    if (op.outputs[2].valid())
        op.role = Role::CastTranspose;
    if (op.outputs.size() > 4)
        op.fused.insert(Role::BiasGrad);
}

/// Kinds of which the fused bias gradient is an output that may be absent.
bool sumsBiasGradient(const Op& op)
{
    const bool may = op.kind == OpKind::ActBackwardAmax || op.kind == OpKind::ActBackwardCastTranspose;
    return may && op.outputs.back().valid();
}

/// relu: one comparison; gelu (tanh form): about ten operations, backward about twice as many.
double activationFlops(const StepPlan& plan, const Op& op)
{
    const bool gelu = plan.config.activation == Activation::Gelu;
    switch (op.kind) {
    case OpKind::ActForward:
    case OpKind::ActAmax:
    case OpKind::ActCastTranspose:
    case OpKind::ActBlockCast: return gelu ? 10 : 1;
    case OpKind::ActBackward:
    case OpKind::ActBackwardAmax:
    case OpKind::ActBackwardCastTranspose: return gelu ? 20 : 1;
    default: return 0;
    }
}

double optimizerFlops(const StepPlan& plan, const Op& op)
{
    const double perElement = plan.config.optimizer.kind == OptimizerKind::Adam ? 12 : 4;
    double elements = 0;
    for (const TensorId gradient : op.inputs)
        elements += static_cast<double>(plan.tensor(gradient).elements());
    const double cast = op.kind == OpKind::OptimizerCast
                            ? (kAmaxFlops + kCastFlops) * static_cast<double>(plan.tensor(op.outputs[0]).elements())
                            : 0;
    return perElement * elements + cast;
}

std::uint64_t operandBytes(const StepPlan& plan, const std::vector<TensorId>& operands)
{
    std::uint64_t bytes = 0;
    for (const TensorId id : operands) {
        if (id.valid())
            bytes += plan.tensor(id).bytes();
    }
    return bytes;
}

std::uint64_t leastBytes(const StepPlan& plan, const Op& op)
{
    const std::uint64_t bytes = operandBytes(plan, op.inputs) + operandBytes(plan, op.outputs);
    if (op.kind == OpKind::LoadBatch)
        return 2 * bytes;  // a copy: read from the data set, written to the arena
    if (op.gemm && op.gemm->beta != 0)
        return bytes + plan.tensor(op.gemm->dTensor).bytes();
    if (op.phase != Phase::Optimizer)
        return bytes;
    std::uint64_t readToo = 0;  // masters, states and the step count are updated in place; bf16 parameters only written
    for (const TensorId id : op.outputs) {
        const TensorClass cls = id.valid() ? plan.tensor(id).cls : TensorClass::Weight;
        if (cls == TensorClass::Master || cls == TensorClass::OptimizerState)
            readToo += plan.tensor(id).bytes();
    }
    return bytes + readToo;
}

void deriveShape(const StepPlan& plan, Op& op)
{
    if (op.gemm) {  // row-major view: D's rows are cuBLASLt's columns
        op.m = op.gemm->n();
        op.n = op.gemm->m();
        op.k = op.gemm->k();
        return;
    }
    const bool bulk = op.kind == OpKind::DelayedScaleUpdate;
    const Tensor& main = plan.tensor(bulk ? op.inputs[1] : op.inputs.empty() ? op.outputs[0] : op.inputs[0]);
    op.m = main.rows;
    op.n = main.cols;
    op.k = 0;
}

double flopsOf(const StepPlan& plan, const Op& op)
{
    const double elements = static_cast<double>(op.m) * static_cast<double>(op.n);
    if (op.gemm) {
        const double bias = addsBias(op.gemm->epilogue) ? elements : 0;
        const Activation activation = activationOf(op.gemm->epilogue);
        const double activated = activation == Activation::None ? 0 : activation == Activation::Gelu ? 10 : 1;
        return 2 * elements * static_cast<double>(op.k) + bias + activated * elements;
    }
    if (op.phase == Phase::Optimizer)
        return optimizerFlops(plan, op);
    const double amax = writesAmax(op) ? kAmaxFlops : 0;
    const double dbias = sumsBiasGradient(op) ? 1 : 0;
    return elements * (factsOf(op.kind).flopsPerElement + amax + dbias + activationFlops(plan, op));
}

}  // namespace

std::string_view toString(OpKind kind) { return factsOf(kind).word; }

void deriveOpFacts(StepPlan& plan)
{
    for (Op& op : plan.ops) {
        const KindFacts& facts = factsOf(op.kind);
        op.role = facts.role;
        op.fused = facts.fused;
        if (op.gemm && addsBias(op.gemm->epilogue))
            op.fused.insert(Role::Bias);
        if (op.gemm && activationOf(op.gemm->epilogue) != Activation::None)
            op.fused.insert(Role::Activation);
        if (sumsBiasGradient(op))
            op.fused.insert(Role::BiasGrad);
        if (writesAmax(op))
            op.fused.insert(Role::Amax);
        if (op.kind == OpKind::BlockCast)
            deriveBlockCast(op);
        deriveShape(plan, op);
        op.flops = flopsOf(plan, op);
        op.bytes = leastBytes(plan, op);
    }
}

}  // namespace fp8scope::plan

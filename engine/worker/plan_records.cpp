// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/plan_records.h"

#include <span>

namespace fp8scope::worker {

namespace {

Precision precisionOf(DType type)
{
    switch (type) {
    case DType::E4m3:
    case DType::E5m2: return Precision::Fp8;
    case DType::Bf16: return Precision::Bf16;
    case DType::F32: return Precision::Fp32;
    case DType::F64: return Precision::Fp64;
    case DType::I32:
    case DType::E8m0: return Precision::Unknown;
    }
    return Precision::Unknown;
}

/// The type of the first operand that is present, or nullptr.
const DType* firstType(const plan::StepPlan& plan, std::span<const plan::TensorId> operands)
{
    for (const plan::TensorId id : operands)
        if (id.valid())
            return &plan.tensor(id).type;
    return nullptr;
}

std::string typeName(const DType* type) { return type != nullptr ? std::string(toString(*type)) : std::string(); }

Precision precisionOf(const plan::StepPlan& plan, const plan::Op& op)
{
    if (op.gemm)
        return isFp8(op.gemm->a.type) || isFp8(op.gemm->b.type) ? Precision::Fp8 : precisionOf(op.gemm->a.type);
    const DType* written = firstType(plan, op.outputs);
    return written != nullptr ? precisionOf(*written) : Precision::Unknown;
}

bool usesScales(const plan::Op& op) { return op.quantized >= 0 || (op.gemm && isFp8(op.gemm->a.type)); }

}  // namespace

wire::Layer layerRecord(const plan::StepPlan& plan, std::size_t layer)
{
    const plan::LayerPlan& planned = plan.layers[layer];
    return {.index = static_cast<std::uint32_t>(layer),
            .name = planned.name,
            .inFeatures = planned.inFeatures,
            .outFeatures = planned.outFeatures,
            .precision = planned.fp8 ? "fp8" : "bf16",
            .reason = planned.reason};
}

wire::Op opRecord(const plan::StepPlan& plan, std::size_t index, wire::LocalLayer layer)
{
    const plan::Op& op = plan.ops[index];
    wire::Op record{.index = static_cast<std::uint32_t>(index),
                    .layer = layer,
                    .name = op.name,
                    .phase = op.phase,
                    .role = op.role,
                    .fused = op.fused,
                    .m = op.m,
                    .n = op.n,
                    .k = op.k,
                    .flops = op.flops,
                    .bytes = op.bytes};
    if (op.gemm) {
        record.aType = typeName(&op.gemm->b.type);
        record.bType = typeName(&op.gemm->a.type);
        record.dType = typeName(&op.gemm->d.type);
        if (op.gemm->epilogue != plan::Epilogue::None)
            record.epilogue = toString(op.gemm->epilogue);
    } else {
        record.aType = typeName(firstType(plan, op.inputs));
        record.dType = typeName(firstType(plan, op.outputs));
    }
    if (usesScales(op))
        record.recipe = toString(plan.config.recipe.kind);
    return record;
}

wire::Name nameRecord(const plan::StepPlan& plan, std::size_t index)
{
    const plan::Op& op = plan.ops[index];
    return {.text = op.name,
            .kind = NameKind::Op,
            .role = op.role,
            .fused = op.fused,
            .precision = precisionOf(plan, op),
            .library = op.gemm ? "oneDNN" : "fp8scope"};
}

}  // namespace fp8scope::worker

// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/slice_families.h"

#include "app/analysis/breakdown.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fp8scope::analysis {

Precision precisionOfType(std::string_view dtype)
{
    static constexpr std::array<std::pair<std::string_view, Precision>, 10> kTypes{{
        {"e4m3", Precision::Fp8},
        {"e5m2", Precision::Fp8},
        {"fp8", Precision::Fp8},
        {"bf16", Precision::Bf16},
        {"f16", Precision::Fp16},
        {"fp16", Precision::Fp16},
        {"f32", Precision::Fp32},
        {"fp32", Precision::Fp32},
        {"f64", Precision::Fp64},
        {"int8", Precision::Int8},
    }};
    const auto* const found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == dtype; });
    return found == kTypes.end() ? Precision::Unknown : found->second;
}

RoleFamily classify(const TraceOp& op)
{
    const Precision a = precisionOfType(op.aType);
    const Precision b = precisionOfType(op.bType);
    // A GEMM is fp8 if either operand is: that is what the tensor cores multiply at.
    const Precision precision = a == Precision::Fp8 || b == Precision::Fp8 ? Precision::Fp8 : a;
    const bool known = op.role != Role::Other;
    const bool typesTold = known && (op.role == Role::Gemm || op.role == Role::Cast) && !op.aType.empty();
    return {op.role, familyOf(op.role, precision),
            typesTold ? ClassifiedBy::Types
            : known   ? ClassifiedBy::Op
                      : ClassifiedBy::Nothing};
}

RoleFamily classify(const Name& name)
{
    return {name.role, familyOf(name.role, name.precision),
            name.role == Role::Other ? ClassifiedBy::Nothing : ClassifiedBy::Name};
}

std::string_view toString(ClassifiedBy by)
{
    static constexpr std::array<std::string_view, kClassifiedByCount> kWords{"op", "types", "name", "nothing"};
    return kWords[static_cast<std::size_t>(by)];
}

SliceFamilies::OfOp::OfOp(const TraceOp& op)
    : kind(classify(op)), needsTypes(op.aType.empty() && op.bType.empty()), hasShape(op.m > 0)
{}

SliceFamilies::OfName::OfName(const Name& name)
    : kind(classify(name)), decides(name.kind == NameKind::Memcpy || name.kind == NameKind::Memset ||
                                    name.role == Role::Sync || name.role == Role::Comm)
{}

SliceFamilies::SliceFamilies(const Trace& trace)
    : m_ops(trace.ops.begin(), trace.ops.end()), m_names(trace.names.begin(), trace.names.end())
{}

RoleFamily SliceFamilies::of(const TraceOp* op, const Name& name)
{
    return op != nullptr ? choose(OfOp(*op), OfName(name)) : classify(name);
}

Family familyOfSlice(const Trace& trace, const Track& track, std::size_t index)
{
    const OpId op = track.slices.op[index];
    return SliceFamilies::of(op.valid() ? &trace.op(op) : nullptr, trace.name(track.slices.name[index])).family;
}

}  // namespace fp8scope::analysis

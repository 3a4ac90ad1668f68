// SPDX-License-Identifier: Apache-2.0
// Role and family of slices, looked up once per op and name instead of once per slice.
#pragma once

#include "collector/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fp8scope::analysis {

/// What told the role and family of a slice, the strongest evidence first.
enum class ClassifiedBy : std::uint8_t {
    Op,       ///< the op that launched it: the engine's plan, or a framework's operator whose work is known
    Types,    ///< as Op, and the op's operand types and shapes decided
    Name,     ///< the kernel's name
    Nothing,  ///< no rule knew it
};
inline constexpr int kClassifiedByCount = static_cast<int>(ClassifiedBy::Nothing) + 1;
[[nodiscard]] std::string_view toString(ClassifiedBy);

struct RoleFamily {
    Role role = Role::Other;
    Family family = Family::Unknown;
    ClassifiedBy by = ClassifiedBy::Nothing;
};

/// By the op where there is one (role and operand types), else by the name. An op of unknown role falls back to its
/// name; so do copies, memsets, waits and collectives, which are what they are whatever op asked for them, products
/// whose operand types the op does not say, and what a product's op launches besides its product, where the name knows
/// better.
class SliceFamilies {
public:
    explicit SliceFamilies(const Trace& trace);
    [[nodiscard]] RoleFamily of(const SliceColumns& slices, std::size_t index) const
    {
        return of(slices.op[index], slices.name[index]);
    }
    [[nodiscard]] RoleFamily of(OpId op, NameId name) const
    {
        return op.valid() ? choose(m_ops[op.value], m_names[name.value]) : m_names[name.value].kind;
    }
    [[nodiscard]] static RoleFamily of(const TraceOp* op, const Name& name);

private:
    struct OfOp {
        explicit OfOp(const TraceOp&);
        RoleFamily kind;
        bool needsTypes = false;
        bool hasShape = false;  ///< it multiplies; else it may be a part of a composite op (a whole MoE layer)
    };
    struct OfName {
        explicit OfName(const Name&);
        RoleFamily kind;
        bool decides = false;
    };
    static RoleFamily choose(const OfOp& op, const OfName& name)
    {
        if (name.decides || op.kind.role == Role::Other)
            return name.kind;
        if (op.kind.role != Role::Gemm || name.kind.role == Role::Other)
            return op.kind;
        const bool nameKnowsBetter = name.kind.role == Role::Gemm ? op.needsTypes : !op.hasShape;
        return nameKnowsBetter ? name.kind : op.kind;
    }
    std::vector<OfOp> m_ops;
    std::vector<OfName> m_names;
};

[[nodiscard]] RoleFamily classify(const TraceOp& op);
[[nodiscard]] RoleFamily classify(const Name& name);
/// "e4m3", "e5m2": fp8; "bf16"; "f16", "fp16"; ...
[[nodiscard]] Precision precisionOfType(std::string_view dtype);

}  // namespace fp8scope::analysis

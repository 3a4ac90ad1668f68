// SPDX-License-Identifier: Apache-2.0
// Role and family of slices, looked up once per op and name instead of once per slice.
#pragma once

#include "collector/trace/trace.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace fp8scope::analysis {

struct RoleFamily {
    Role role = Role::Other;
    Family family = Family::Unknown;
};

/// By the op where there is one (role and operand types), else by the name. An op of unknown role falls back to its
/// name.
class SliceFamilies {
public:
    explicit SliceFamilies(const Trace& trace);
    [[nodiscard]] RoleFamily of(const SliceColumns& slices, std::size_t index) const
    {
        return of(slices.op[index], slices.name[index]);
    }
    [[nodiscard]] RoleFamily of(OpId op, NameId name) const
    {
        if (op.valid() && m_ops[op.value].role != Role::Other)
            return m_ops[op.value];
        return m_names[name.value];
    }

private:
    std::vector<RoleFamily> m_ops, m_names;
};

[[nodiscard]] RoleFamily classify(const TraceOp& op);
[[nodiscard]] RoleFamily classify(const Name& name);
/// "e4m3", "e5m2": fp8; "bf16"; "f16", "fp16"; ...
[[nodiscard]] Precision precisionOfType(std::string_view dtype);

}  // namespace fp8scope::analysis

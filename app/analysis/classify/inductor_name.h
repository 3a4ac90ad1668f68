// SPDX-License-Identifier: Apache-2.0
// The names that PyTorch's compiler gives to what it fused: triton_<kind>_fused_<op>_<op>..._<number>.
#pragma once

#include "collector/trace/words.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace fp8scope::analysis {

struct InductorName {
    std::string kind;  ///< "poi", "red", "per", "tem" (a template: the only kind that multiplies matrices), ...
    std::set<std::string, std::less<>> ops;  ///< "_to_copy", "abs", "_scaled_mm": every op that was absorbed, views too
};

/// nullopt for a name of another grammar, and for the old "triton__0d1d2d", which tells nothing.
[[nodiscard]] std::optional<InductorName> parseInductorName(std::string_view);

struct InductorWork {
    Role role = Role::Other;
    RoleSet fused{};
    bool quantizes = false;  ///< it finds an amax, a scale or casts to fp8
};

/// What the kernel does. Names list ops that left no work behind (views, ops whose result another kernel stores), so a
/// role needs more than one witness: a cast to fp8 needs a clamp, a scaling and a conversion.
[[nodiscard]] InductorWork workOf(const InductorName&);

}  // namespace fp8scope::analysis

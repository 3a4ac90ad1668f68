// SPDX-License-Identifier: Apache-2.0
// Roles for the names and ops of a trace that came without them.
#pragma once

#include "app/analysis/classify/kernel_classifier.h"
#include "collector/trace/trace.h"

#include <span>
#include <string>
#include <utility>

namespace fp8scope::analysis {

/// Fills role, fused roles, precision and library of kernel, memcpy, memset and sync names that have no role, and role
/// and fused roles of ops that have none and whose name the table of operators knows. What the engine recorded stays as
/// it is. An op's operand types decide where its name alone does not ("aten::copy_" to Float8 is a cast). Once per
/// distinct name; a second call changes nothing.
void classify(Trace&, const KernelClassifier&);

/// The built-in rules after a user's: `own` are files as (name, text). Throws Error as parseRules does.
[[nodiscard]] KernelClassifier classifierWith(std::span<const std::pair<std::string, std::string>> own);

}  // namespace fp8scope::analysis

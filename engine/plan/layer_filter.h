// SPDX-License-Identifier: Apache-2.0
// Which layers of an fp8 mode stay in bf16 by choice. Internal to engine/plan.
#pragma once

#include "engine/plan/config_keys.h"

#include <optional>
#include <string>

namespace fp8scope::plan {

/// "layer3": what filters, plans and traces call a layer.
[[nodiscard]] std::string layerName(std::size_t layer);

/// Why the filter keeps the layer in bf16, the first reason that holds; empty when it does not.
[[nodiscard]] std::string filterReason(const MlpConfig&, std::size_t layer);

/// A filter that cannot be meant: a pattern that names no layer, or an automatic rule that the recipe does not have.
[[nodiscard]] std::optional<BrokenRelation> brokenFilter(const MlpConfig&);

}  // namespace fp8scope::plan

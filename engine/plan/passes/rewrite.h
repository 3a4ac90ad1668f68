// SPDX-License-Identifier: Apache-2.0
// What the passes share: who writes and reads a tensor, and removing what a rewrite made superfluous. Internal to
// engine/plan.
#pragma once

#include "engine/plan/step_plan.h"

#include <span>

namespace fp8scope::plan {

/// The data flow of a plan's ops, by position; of the plan as it was when this was made.
class Dataflow {
public:
    explicit Dataflow(const StepPlan&);

    /// The first op that writes the tensor, or -1 (parameters, histories).
    [[nodiscard]] int writer(TensorId id) const { return m_writer[id.value]; }
    /// The ops that read the tensor, in order.
    [[nodiscard]] std::span<const int> readers(TensorId id) const;
    /// The only reader, if it is of this kind; else -1.
    [[nodiscard]] int soleReader(const StepPlan&, TensorId, OpKind) const;

private:
    std::vector<int> m_writer;
    std::vector<std::size_t> m_begin;  ///< by tensor: where its readers begin in m_readers
    std::vector<int> m_readers;
};

/// Removes the ops whose `erased` entry is true.
void eraseOps(StepPlan&, const std::vector<bool>& erased);

/// Makes every op that reads a tensor read `replacement[tensor]` instead, where that is valid.
void replaceInputs(StepPlan&, const std::vector<TensorId>& replacement);

/// Removes the tensors that no op, view or index of the plan refers to, and renumbers the rest.
void eraseUnusedTensors(StepPlan&);

/// "layer2.fwd.act", "act_amax" -> "layer2.fwd.act_amax".
[[nodiscard]] std::string siblingName(const Op&, std::string_view what);

/// "layer2.fwd.to_fp8_x", "cast" -> "layer2.fwd.cast_x".
[[nodiscard]] std::string withVerb(const std::string& opName, std::string_view verb);

}  // namespace fp8scope::plan

// SPDX-License-Identifier: Apache-2.0
// Tells the recorder what a run is and what each step did.
#pragma once

#include "collector/wire/producer.h"
#include "engine/cpu/cpu_executor.h"
#include "engine/plan/step_plan.h"
#include "engine/worker/numerics_watch.h"
#include "engine/worker/shadow.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fp8scope::worker {

/// One run on a producer's connection. Exactly one of the end functions is called; without it the run is taken as lost.
class RunReporter {
public:
    /// Begins the run: device, queue, layers, ops, tensors and memory classes of the plan, which must outlive it.
    RunReporter(wire::Producer&, const plan::StepPlan&);

    /// A slice an op, a statistic a quantized tensor, the step's figures, and the step: sent together. `shadow`: what
    /// bf16 made of the step, where that was asked.
    void reportStep(const cpu::StepResult&, bool warmup, const std::optional<ShadowResult>& shadow = {});

    void endComplete() { end(true, ""); }
    void endStopped();
    void endFailed(const std::string& why);

private:
    void declareDevice();
    void declareModel(const plan::StepPlan&);
    void reportNumerics(const cpu::StepResult&);
    void reportHistogram(wire::LocalTensor, const cpu::QuantizationQuality&);
    void reportShadow(const ShadowResult&);
    void end(bool complete, const std::string& note);
    [[nodiscard]] std::string afterLastStep() const;

    wire::Producer& m_producer;
    wire::LocalTrack m_queue;
    NumericsWatch m_watch;
    std::vector<wire::LocalLayer> m_layers;
    std::vector<wire::LocalOp> m_ops;
    std::vector<wire::LocalName> m_names;
    std::vector<wire::LocalTensor> m_tensors;
    std::vector<wire::Slice> m_slices;  ///< kept for its capacity
    std::uint32_t m_steps = 0;
};

}  // namespace fp8scope::worker

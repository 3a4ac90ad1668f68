// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/shadow.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fp8scope::worker {

namespace {

plan::StepPlan readablePlan(const plan::StepPlan& trained, std::string_view mode)
{
    return plan::buildPlan(trained.config, mode, {.keepTensors = true});
}

plan::TensorId tensorNamed(const plan::StepPlan& plan, const std::string& name)
{
    const auto found =
        std::find_if(plan.tensors.begin(), plan.tensors.end(), [&](const plan::Tensor& t) { return t.name == name; });
    return found == plan.tensors.end() ? plan::TensorId::none()
                                       : plan::TensorId(static_cast<std::uint32_t>(found - plan.tensors.begin()));
}

double relativeError(const std::vector<float>& value, const std::vector<float>& reference)
{
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const double r = reference[i], d = value[i] - r;
        difference += d * d;
        norm += r * r;
    }
    return norm > 0 ? std::sqrt(difference / norm) : std::numeric_limits<double>::quiet_NaN();
}

/// What is compared, as it is called in plans and in the trace: a layer's output with its bias, the gradient of that
/// output, the gradient of the weights. A fusion may leave no tensor of that name; the others are compared then.
struct Compared {
    std::string_view inPlan, inTrace;
};
constexpr Compared kCompared[] = {{".z", ".y"}, {".dy", ".dy"}, {".dw", ".dw"}};

}  // namespace

Shadow::Shadow(const plan::StepPlan& trained, int threads)
    : m_fp8(readablePlan(trained, trained.settings.mode), {.threads = threads}),
      m_bf16(readablePlan(trained, "bf16"), {.threads = threads})
{}

ShadowResult Shadow::compare(const cpu::CpuExecutor& training)
{
    m_fp8.copyState(training);
    m_bf16.copyState(training);
    (void)m_fp8.runStep();
    ShadowResult result{.errors = {}, .bf16Loss = m_bf16.runStep().loss};
    for (std::size_t l = 0; l < training.plan().layers.size(); ++l) {
        const std::string& layer = training.plan().layers[l].name;
        for (const Compared& compared : kCompared) {
            const std::string name = layer + std::string(compared.inPlan);
            const plan::TensorId ours = tensorNamed(m_fp8.plan(), name), theirs = tensorNamed(m_bf16.plan(), name);
            if (!ours.valid() || !theirs.valid())
                continue;
            result.errors.push_back({.layer = static_cast<int>(l),
                                     .tensor = layer + std::string(compared.inTrace),
                                     .relativeError = relativeError(m_fp8.read(ours), m_bf16.read(theirs))});
        }
    }
    return result;
}

}  // namespace fp8scope::worker

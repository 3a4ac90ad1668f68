// SPDX-License-Identifier: Apache-2.0
// Whole training steps of 1024-wide layers at batch 1024 in each mode. Each iteration runs a bf16 step beside the
// mode's own, so that both see the same machine. Counters, medians over the iterations: "in_onednn", the share of the
// step spent inside oneDNN (aim: 75% in bf16); "of_bf16", the step's time over the bf16 step's; "gemm_gflops", inside
// oneDNN.
#include "engine/cpu/cpu_executor.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace fp8scope::cpu {
namespace {

plan::MlpConfig wideConfig(plan::RecipeKind recipe)
{
    plan::MlpConfig config;
    config.widths = {1024, 1024, 1024, 1024, 1024};
    config.batch = 1024;
    config.datasetBatches = 2;
    config.recipe.kind = recipe;
    return config;
}

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double gemmFlops(const plan::StepPlan& plan)
{
    return std::accumulate(plan.ops.begin(), plan.ops.end(), 0.0,
                           [](double sum, const plan::Op& op) { return sum + (op.gemm ? op.flops : 0); });
}

void step(benchmark::State& state, const char* mode, plan::RecipeKind recipe)
{
    const plan::MlpConfig config = wideConfig(recipe);
    CpuExecutor bf16(plan::buildPlan(config, "bf16")), measured(plan::buildPlan(config, mode));
    for (int warmup = 0; warmup < 2; ++warmup) {
        (void)bf16.runStep();
        (void)measured.runStep();
    }
    std::vector<double> shares, steps, bf16Steps, rates;
    for (auto _ : state) {
        bf16Steps.push_back(static_cast<double>(bf16.runStep().durNs));
        const StepResult result = measured.runStep();
        const auto durNs = static_cast<double>(result.durNs), insideNs = static_cast<double>(result.gemmLibraryNs);
        steps.push_back(durNs);
        shares.push_back(insideNs / durNs);
        rates.push_back(gemmFlops(measured.plan()) / insideNs);
        state.SetIterationTime(durNs * 1e-9);
    }
    state.counters["in_onednn"] = median(shares);
    state.counters["of_bf16"] = median(steps) / median(bf16Steps);
    state.counters["gemm_gflops"] = median(rates);
}

constexpr int kIterations = 15;
BENCHMARK_CAPTURE(step, bf16, "bf16", plan::RecipeKind::Tensorwise)
    ->Iterations(kIterations)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, fp8 / tensorwise, "fp8", plan::RecipeKind::Tensorwise)
    ->Iterations(kIterations)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, fp8 - fused / tensorwise, "fp8-fused", plan::RecipeKind::Tensorwise)
    ->Iterations(kIterations)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, fp8 / delayed, "fp8", plan::RecipeKind::Delayed)
    ->Iterations(kIterations)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, fp8 - fused / delayed, "fp8-fused", plan::RecipeKind::Delayed)
    ->Iterations(kIterations)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fp8scope::cpu

BENCHMARK_MAIN();

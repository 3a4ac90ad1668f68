// SPDX-License-Identifier: Apache-2.0
// Building plans: a thousand layers in each mode (eager fp8: 83,000 ops), and what the arena needs against the bound of
// the lifetimes.
#include "engine/plan/memory_planner.h"

#include <benchmark/benchmark.h>

namespace {

using namespace fp8scope::plan;

MlpConfig deepConfig(std::size_t layers)
{
    MlpConfig config;
    config.widths.assign(layers + 1, 1024);
    return config;
}

void buildDeepPlan(benchmark::State& state, const char* mode)
{
    const MlpConfig config = deepConfig(static_cast<std::size_t>(state.range(0)));
    StepPlan plan;
    for (auto _ : state)
        plan = buildPlan(config, mode);
    state.counters["ops"] = static_cast<double>(plan.ops.size());
    state.counters["arena/bound"] =
        static_cast<double>(plan.arenaBytes) / static_cast<double>(lifetimeLowerBound(plan));
}

}  // namespace

BENCHMARK_CAPTURE(buildDeepPlan, bf16, "bf16")->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(buildDeepPlan, fp8, "fp8")->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(buildDeepPlan, fp8_fused, "fp8-fused")->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();

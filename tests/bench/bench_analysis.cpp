// SPDX-License-Identifier: Apache-2.0
// All questions of the first page on a generated training loop: whole, and after a change of range.
// Aim: everything on a 1-million-slice trace in under 0.5 s on two cores, a range in under 100 ms.
#include "app/analysis/layers.h"
#include "app/analysis/overview.h"
#include "tests/support/loop_trace.h"

#include <benchmark/benchmark.h>

#include <map>

namespace fp8scope::analysis {
namespace {

const Trace& loopTrace(std::size_t slices)
{
    static std::map<std::size_t, Trace> made;
    const auto found = made.find(slices);
    return found != made.end() ? found->second
                               : made.emplace(slices, test::makeLoopTrace({.slices = slices})).first->second;
}

void countSlices(benchmark::State& state, const Trace& trace)
{
    state.counters["slices"] = static_cast<double>(trace.sliceCount());
    state.counters["slices/s"] =
        benchmark::Counter(static_cast<double>(trace.sliceCount()), benchmark::Counter::kIsIterationInvariantRate);
}

void overviewOfAll(benchmark::State& state)
{
    const Trace& trace = loopTrace(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state)
        benchmark::DoNotOptimize(overview(trace));
    countSlices(state, trace);
}
BENCHMARK(overviewOfAll)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void breakdownsOfAll(benchmark::State& state)
{
    const Trace& trace = loopTrace(1'000'000);
    for (auto _ : state)
        benchmark::DoNotOptimize(breakdowns(trace));
    countSlices(state, trace);
}
BENCHMARK(breakdownsOfAll)->Unit(benchmark::kMillisecond);

void accountAndLayers(benchmark::State& state)
{
    const Trace& trace = loopTrace(1'000'000);
    const std::vector<Breakdown> runs = breakdowns(trace);
    for (auto _ : state) {
        benchmark::DoNotOptimize(accounts(trace, runs));
        benchmark::DoNotOptimize(layerTable(trace, runs));
    }
}
BENCHMARK(accountAndLayers)->Unit(benchmark::kMillisecond);

/// A range chosen on the timeline: one step in the middle of the first run.
void exposedTimeOfARange(benchmark::State& state)
{
    const Trace& trace = loopTrace(1'000'000);
    const StepSummary steps = summarizeSteps(trace, RunId(0));
    const Step& step = steps.used[steps.used.size() / 2];
    for (auto _ : state)
        benchmark::DoNotOptimize(exposedTime(trace, RunId(0), step.startNs, step.startNs + step.durNs));
}
BENCHMARK(exposedTimeOfARange)->Unit(benchmark::kMillisecond);

/// A selected step range, all runs.
void overviewOfTenSteps(benchmark::State& state)
{
    const Trace& trace = loopTrace(1'000'000);
    for (auto _ : state)
        benchmark::DoNotOptimize(overview(trace, {10, 19}));
}
BENCHMARK(overviewOfTenSteps)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fp8scope::analysis

BENCHMARK_MAIN();

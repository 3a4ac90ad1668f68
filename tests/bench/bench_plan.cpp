// SPDX-License-Identifier: Apache-2.0
// Building plans: a thousand layers in each mode (eager fp8: 83,000 ops), and every preset; what the arena needs
// against the bound of the lifetimes (counter arena/bound).
#include "engine/plan/memory_planner.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace fp8scope::plan;

MlpConfig deepConfig(std::size_t layers)
{
    MlpConfig config;
    config.widths.assign(layers + 1, 1024);
    return config;
}

void build(benchmark::State& state, const MlpConfig& config, const std::string& mode)
{
    StepPlan plan;
    for (auto _ : state)
        plan = buildPlan(config, mode);
    state.counters["ops"] = static_cast<double>(plan.ops.size());
    state.counters["arena/bound"] =
        static_cast<double>(plan.arenaBytes) / static_cast<double>(lifetimeLowerBound(plan));
}

void buildDeepPlan(benchmark::State& state, const char* mode)
{
    build(state, deepConfig(static_cast<std::size_t>(state.range(0))), mode);
}

MlpConfig readPreset(const std::filesystem::path& path)
{
    std::ifstream in(path);
    return parseConfig(std::string(std::istreambuf_iterator<char>(in), {}), path.string());
}

void registerPresets()
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(FP8SCOPE_PRESETS))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files) {
        const MlpConfig config = readPreset(file);
        for (const std::string& mode : config.modes)
            benchmark::RegisterBenchmark((config.name + "/" + mode).c_str(), [config, mode](benchmark::State& state) {
                build(state, config, mode);
            })->Unit(benchmark::kMillisecond);
    }
}

}  // namespace

BENCHMARK_CAPTURE(buildDeepPlan, bf16, "bf16")->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(buildDeepPlan, fp8, "fp8")->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(buildDeepPlan, fp8_fused, "fp8-fused")->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);

int main(int argc, char** argv)
{
    benchmark::Initialize(&argc, argv);
    registerPresets();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/measure_ops.h"

#include "engine/cpu/cpu_executor.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace fp8scope::worker {
namespace {

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

MeasuredPlan measurePlan(const plan::MlpConfig& config, const std::string& mode, int threads, int steps)
{
    constexpr int kWarmup = 2;
    MeasuredPlan measured{.plan = plan::buildPlan(config, mode)};
    std::vector<std::vector<double>> times(measured.plan.ops.size());
    std::vector<double> stepTimes;
    cpu::CpuExecutor executor(measured.plan, {.threads = threads});
    for (int step = 0; step < kWarmup + steps; ++step) {
        const cpu::StepResult result = executor.runStep();
        if (step < kWarmup)
            continue;
        stepTimes.push_back(static_cast<double>(result.durNs) * 1e-3);
        for (const cpu::OpTiming& op : result.ops)
            times[op.op].push_back(static_cast<double>(op.durNs) * 1e-3);
    }
    for (std::vector<double>& opTimes : times)
        measured.opUs.push_back(opTimes.empty() ? 0 : median(std::move(opTimes)));
    measured.stepUs = median(std::move(stepTimes));
    return measured;
}

std::uint64_t lastLevelCacheBytes()
{
    std::uint64_t largest = 0;
    for (int level = 0; level < 5; ++level) {
        std::ifstream in("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(level) + "/size");
        std::string text;
        if (!(in >> text) || text.empty())
            continue;
        const std::uint64_t unit = text.back() == 'K' ? 1024 : text.back() == 'M' ? 1024 * 1024 : 1;
        largest = std::max<std::uint64_t>(largest, std::strtoull(text.c_str(), nullptr, 10) * unit);
    }
    return largest;
}

}  // namespace fp8scope::worker

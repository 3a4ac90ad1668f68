// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/worker.h"

#include "collector/trace/error.h"
#include "collector/wire/producer.h"
#include "engine/cpu/cpu_executor.h"
#include "engine/cpu/run_cost.h"
#include "engine/plan/config.h"
#include "engine/plan/step_plan.h"
#include "engine/worker/run_reporter.h"
#include "engine/worker/shadow.h"
#include "engine/worker/stop_signals.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <new>
#include <optional>

namespace fp8scope::worker {

namespace {

std::string readFile(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file)
        throw Error("the run's configuration cannot be read", path.string(), "");
    return text;
}

WorkerExit trainSteps(const plan::StepPlan& plan, int threads, const StopSignals& stop, RunReporter& reporter)
{
    cpu::CpuExecutor executor(plan, {.threads = threads});
    std::optional<Shadow> shadow;
    if (plan.config.numerics.shadow && plan.settings.fp8)
        shadow.emplace(plan, threads);
    const int steps = plan.config.warmup + plan.config.steps;
    for (int step = 0; step < steps; ++step) {
        if (stop.requested()) {
            reporter.endStopped();
            return kWorkerStopped;
        }
        std::optional<ShadowResult> compared;
        if (shadow && step % plan.config.numerics.every == 0)
            compared = shadow->compare(executor);
        reporter.reportStep(executor.runStep(), step < plan.config.warmup, compared);
    }
    reporter.endComplete();
    return kWorkerDone;
}

plan::MlpConfig readConfig(const std::filesystem::path& path)
{
    return plan::parseConfig(readFile(path), path.string());
}

WorkerExit train(const WorkerRequest& request, const StopSignals& stop)
{
    const plan::MlpConfig config = readConfig(request.config);
    wire::Producer producer(request.socket,
                            wire::helloOfThisProcess(request.token, "fp8scope engine (" + request.mode + ")"));
    const plan::StepPlan plan = plan::buildPlan(config, request.mode);
    RunReporter reporter(producer, plan);
    try {
        return trainSteps(plan, request.threads, stop, reporter);
    } catch (const Error& error) {
        reporter.endFailed(error.what());
        throw;
    } catch (const std::bad_alloc&) {
        const Error error("out of memory", request.mode + " run", "lower batch or widths, or close other programs");
        reporter.endFailed(error.what());
        throw error;
    }
}

int numberFrom(const std::string& option, const std::string& text)
{
    int number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || end != text.data() + text.size() || number < 0)
        throw Error("'" + text + "' is not a number of 0 or more", option, "");
    return number;
}

WorkerRequest requestFrom(const std::vector<std::string>& arguments)
{
    WorkerRequest request;
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
        const std::string& option = arguments[i];
        if (i + 1 == arguments.size())
            throw Error("needs a value", option, "");
        const std::string& value = arguments[i + 1];
        if (option == "--socket")
            request.socket = value;
        else if (option == "--config")
            request.config = value;
        else if (option == "--mode")
            request.mode = value;
        else if (option == "--threads")
            request.threads = numberFrom(option, value);
        else if (option == "--parent")
            request.parent = numberFrom(option, value);
        else
            throw Error("unknown option", option, "engine-worker is started by `fp8scope run`, not by hand");
    }
    if (request.socket.empty() || request.config.empty() || request.mode.empty())
        throw Error("--socket, --config and --mode are needed", "engine-worker",
                    "it is started by `fp8scope run`, not by hand");
    const char* token = std::getenv(wire::kTokenVariable);
    request.token = token != nullptr ? token : "";
    ::unsetenv(wire::kTokenVariable);  // nothing that the engine might start needs it
    return request;
}

/// The program's edge: what was thrown becomes one line and an exit code.
template <typename Body>
int guarded(Body&& body) noexcept
{
    try {
        return body();
    } catch (const std::exception& error) {
        fmt::print(stderr, "fp8scope engine-worker: {}\n", error.what());
        return kWorkerFailed;
    }
}

}  // namespace

int runWorker(const WorkerRequest& request) noexcept
{
    return guarded([&] {
        const StopSignals stop(request.parent);
        return train(request, stop);
    });
}

/// --check CONFIG [--max-hours X] [--threads N]: whether this machine can run the configuration's modes.
int checkRun(const std::vector<std::string>& arguments)
{
    std::filesystem::path config;
    double maxHours = std::numeric_limits<double>::infinity();
    int threads = 0;
    for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
        if (arguments[i] == "--check")
            config = arguments[i + 1];
        else if (arguments[i] == "--max-hours")
            maxHours = std::stod(arguments[i + 1]);
        else if (arguments[i] == "--threads")
            threads = numberFrom(arguments[i], arguments[i + 1]);
    }
    const plan::MlpConfig parsed = readConfig(config);
    std::vector<plan::StepPlan> plans;
    for (const std::string& mode : parsed.modes)
        plans.push_back(plan::buildPlan(parsed, mode));
    cpu::refuseTooLarge(plans, maxHours, threads);
    return kWorkerDone;
}

int workerMain(const std::vector<std::string>& arguments) noexcept
{
    if (!arguments.empty() && arguments[0] == "--check")
        return guarded([&] { return checkRun(arguments); });
    return guarded([&] { return runWorker(requestFrom(arguments)); });
}

}  // namespace fp8scope::worker

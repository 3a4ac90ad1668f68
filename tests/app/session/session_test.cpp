// SPDX-License-Identifier: Apache-2.0
// Whole runs with real child processes: done, refused, cancelled, killed, failed, out of disk.
#include "app/session/child_process.h"
#include "app/session/session.h"
#include "collector/recorder/recorder.h"
#include "collector/trace/error.h"
#include "collector/trace/trace_reader.h"
#include "collector/wire/producer.h"
#include "tests/collector/recorder/forked.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include <sys/prctl.h>
#include <sys/resource.h>

namespace fp8scope::session {
namespace {

using namespace std::chrono_literals;
using test::forked;
using test::statusOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

const std::filesystem::path kProgram = FP8SCOPE_WORKER_PROGRAM;
constexpr int kEndless = 1'000'000;

/// The id of a child process of `parent`, or -1.
pid_t childOf(pid_t parent)
{
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream stat(entry.path() / "stat");
        std::string pid, name, state;
        pid_t itsParent = 0;
        if (stat >> pid >> name >> state >> itsParent && itsParent == parent)
            return std::stoi(pid);
    }
    return -1;
}

/// Signals this process's engine.
void signalEngine(int signal)
{
    const pid_t engine = childOf(::getpid());
    ASSERT_GT(engine, 0) << "kill(-1) would reach every process";
    ::kill(engine, signal);
}

class SessionTest : public ::testing::Test {
protected:
    [[nodiscard]] RunRequest smallRun(std::vector<std::string> modes) const
    {
        RunRequest request;
        request.config.widths = {64, 96, 32};
        request.config.batch = 32;
        request.config.warmup = 1;
        request.config.steps = 4;
        request.config.datasetBatches = 2;
        request.config.modes = std::move(modes);
        request.output = m_file;
        request.threads = 1;
        return request;
    }
    RunOutcome run(const RunRequest& request, const std::function<void(const RunProgress&)>& onProgress = {})
    {
        return runTraining(request, kProgram, onProgress, m_stop.get_token());
    }

    test::TemporaryFolder m_directory;
    std::filesystem::path m_file = m_directory / "demo.fp8trace";
    std::stop_source m_stop;
};

TEST_F(SessionTest, EveryModeRunsIntoOneTrace)
{
    std::vector<RunProgress> progress;
    const RunOutcome outcome =
        run(smallRun({"bf16", "fp8", "fp8-fused"}), [&](const RunProgress& p) { progress.push_back(p); });
    EXPECT_TRUE(outcome.complete) << outcome.message;
    EXPECT_THAT(outcome.modesDone, ElementsAre("bf16", "fp8", "fp8-fused"));
    EXPECT_EQ(outcome.stepsRecorded, 15U);

    const Trace trace = loadTrace(m_file);
    EXPECT_TRUE(trace.complete);
    ASSERT_EQ(trace.runs.size(), 3U);
    EXPECT_EQ(trace.sliceCount(), outcome.slices);
    EXPECT_EQ(trace.devices.size(), 1U);
    for (const auto& run : trace.runs) {
        EXPECT_TRUE(run.complete) << run.note;
        EXPECT_EQ(plan::toToml(plan::parseConfig(run.configToml, "trace")), run.configToml);
        EXPECT_THAT(run.planText, HasSubstr("layer0"));
    }
    ASSERT_EQ(progress.size(), 3U * (1 + 5)) << "each mode's begin and each step";
    EXPECT_EQ(progress[0].step, 0);
    EXPECT_EQ(progress[5].step, 5);
    EXPECT_EQ(progress[5].steps, 5);
    EXPECT_EQ(progress[6].mode, "fp8");
    EXPECT_EQ(progress[6].modeIndex, 1);
    EXPECT_GT(progress[8].secondsLeft, 0);
    EXPECT_EQ(progress.back().secondsLeft, 0);
    EXPECT_TRUE(std::isfinite(progress.back().loss));
}

TEST_F(SessionTest, ATraceHoldsEachOpOfEachStepAndTheStatisticsOfFp8)
{
    ASSERT_TRUE(run(smallRun({"bf16", "fp8"})).complete);
    const Trace trace = loadTrace(m_file);
    ASSERT_EQ(trace.tracks.size(), 2U);
    std::vector<std::size_t> ops(2);
    for (const TraceOp& op : trace.ops)
        ++ops[op.run.value];
    for (std::size_t i = 0; i < 2; ++i)
        EXPECT_EQ(trace.tracks[i].slices.size(), 5 * ops[i]) << "five steps, a slice an op";
    for (const Step& step : trace.steps)
        EXPECT_EQ(step.warmup, step.index == 0);
    ASSERT_FALSE(trace.tensorStats.empty());
    for (const TensorStat& stat : trace.tensorStats) {
        EXPECT_EQ(trace.run(stat.run).mode, "fp8");
        EXPECT_GT(stat.amax, 0) << stat.tensor;
        EXPECT_GT(stat.count, 0U) << stat.tensor;
    }
    EXPECT_FALSE(trace.memory.empty());
    const SliceColumns& slices = trace.tracks[1].slices;
    EXPECT_GE(slices.startNs.front(), trace.run(trace.tracks[1].run).startNs);
    EXPECT_LE(slices.endNs(slices.size() - 1), trace.run(trace.tracks[1].run).endNs);
}

TEST_F(SessionTest, NumericsOfEveryNthStepAreInTheTrace)
{
    RunRequest request = smallRun({"bf16", "fp8"});
    request.config.numerics.every = 2;
    request.config.numerics.shadow = true;
    ASSERT_TRUE(run(request).complete);
    const Trace trace = loadTrace(m_file);
    for (const TensorStat& stat : trace.tensorStats)
        EXPECT_EQ(std::isfinite(stat.sqnrDb), stat.step % 2 == 0) << stat.tensor << " in step " << stat.step;
    ASSERT_FALSE(trace.histograms.empty());
    EXPECT_EQ(trace.histograms[0].step, 0U);
    EXPECT_EQ(trace.histograms[0].tensor, "layer0.x");
    const auto norms = std::count_if(trace.stepValues.begin(), trace.stepValues.end(),
                                     [](const StepValue& v) { return v.name == "gradient_norm" && v.value > 0; });
    EXPECT_EQ(norms, 2 * 5) << "of both runs' every step";

    std::set<std::string> tensors;
    for (const TensorError& error : trace.tensorErrors) {
        tensors.insert(error.tensor);
        EXPECT_EQ(trace.run(error.run).mode, "fp8");
        EXPECT_EQ(error.step % 2, 0U);
        EXPECT_GT(error.relativeError, 1e-4) << error.tensor;
        EXPECT_LT(error.relativeError, 0.3) << error.tensor;
    }
    EXPECT_THAT(tensors, ::testing::IsSupersetOf({"layer0.y", "layer1.y", "layer1.dy", "layer0.dw", "layer1.dw"}));
}

TEST_F(SessionTest, AKilledEngineLeavesItsFinishedStepsAndOneSentence)
{
    RunRequest request = smallRun({"fp8", "bf16"});
    request.config.steps = kEndless;
    int steps = 0;
    const RunOutcome outcome = run(request, [&](const RunProgress& p) {
        steps = p.step;
        if (p.step == 7)
            signalEngine(SIGKILL);
    });
    EXPECT_FALSE(outcome.complete);
    EXPECT_FALSE(outcome.cancelled);
    const std::string n = std::to_string(steps);
    EXPECT_EQ(outcome.message, "the fp8 run was killed by signal 9 after step " + n + "; its " + n +
                                   " finished steps are in " + m_file.string());
    EXPECT_THAT(outcome.modesDone, IsEmpty());

    const Trace trace = loadTrace(m_file);
    ASSERT_EQ(trace.runs.size(), 1U) << "the bf16 run is not started after that";
    EXPECT_EQ(trace.runs[0].note, "killed by signal 9 after step " + n);
    EXPECT_EQ(trace.steps.size(), static_cast<std::size_t>(steps));
    EXPECT_GE(trace.tracks.at(0).slices.endNs(trace.tracks[0].slices.size() - 1), trace.steps.back().startNs);
}

TEST_F(SessionTest, ACancelStopsAfterAStepAndKeepsWhatWasRecorded)
{
    RunRequest request = smallRun({"bf16", "fp8"});
    request.config.steps = kEndless;
    const RunOutcome outcome = run(request, [&](const RunProgress& p) {
        if (p.step == 3)
            m_stop.request_stop();
    });
    EXPECT_TRUE(outcome.cancelled);
    EXPECT_FALSE(outcome.complete);
    EXPECT_THAT(outcome.message,
                MatchesRegex("the bf16 run was stopped after step [0-9]+; its [0-9]+ finished steps are in .*"));
    const Trace trace = loadTrace(m_file);
    EXPECT_THAT(trace.runs.at(0).note, MatchesRegex("stopped after step [0-9]+"));
    EXPECT_EQ(trace.steps.size(), outcome.stepsRecorded);
    EXPECT_GE(outcome.stepsRecorded, 3U);
}

TEST_F(SessionTest, ACancelBeforeTheFirstStepIsACancelToo)
{
    RunRequest request = smallRun({"bf16", "fp8"});
    request.config.steps = kEndless;
    m_stop.request_stop();
    const RunOutcome outcome = run(request);
    EXPECT_TRUE(outcome.cancelled);
    EXPECT_THAT(outcome.message, HasSubstr("the bf16 run was stopped"));
}

TEST_F(SessionTest, ASignalToTheEngineAloneIsACancel)
{
    RunRequest request = smallRun({"bf16"});
    request.config.steps = kEndless;
    const RunOutcome outcome = run(request, [](const RunProgress& p) {
        if (p.step == 2)
            signalEngine(SIGTERM);  // a terminal's Ctrl-C, a batch system's warning
    });
    EXPECT_TRUE(outcome.cancelled);
    EXPECT_THAT(loadTrace(m_file).runs.at(0).note, HasSubstr("stopped after step"));
}

TEST_F(SessionTest, AModeThatFailsByItselfDoesNotKeepTheNextFromRunning)
{
    RunRequest request = smallRun({"bf16", "fp8"});
    request.config.optimizer = {.kind = plan::OptimizerKind::Sgd, .learningRate = 1000};
    request.config.steps = 500;  // it diverges within a few; the rest would be nothing but NaN
    const RunOutcome outcome = run(request);
    EXPECT_FALSE(outcome.complete);
    EXPECT_THAT(outcome.message, HasSubstr("the bf16 run failed after step"));
    EXPECT_THAT(outcome.message, HasSubstr("the fp8 run failed too"));
    const Trace trace = loadTrace(m_file);
    ASSERT_EQ(trace.runs.size(), 2U);
    EXPECT_THAT(trace.runs[1].note, HasSubstr("failed after step"));
    ASSERT_EQ(trace.diagnostics.size(), 2U);
    EXPECT_EQ(trace.diagnostics[0].severity, Severity::Error);
}

TEST_F(SessionTest, RepeatsAlternateInOneTrace)
{
    RunRequest request = smallRun({"bf16", "fp8", "fp8-fused"});
    request.repeats = 2;
    request.meta = {{"why", "a test"}};
    std::vector<RunProgress> progress;
    const RunOutcome outcome = run(request, [&](const RunProgress& p) { progress.push_back(p); });
    EXPECT_TRUE(outcome.complete) << outcome.message;
    EXPECT_THAT(outcome.modesDone, ElementsAre("bf16", "fp8", "fp8-fused", "fp8-fused", "fp8", "bf16"));
    EXPECT_EQ(progress.back().mode, "bf16");
    EXPECT_EQ(progress.back().repeat, 1);
    EXPECT_EQ(progress.back().modeIndex, 5);
    EXPECT_EQ(progress.back().modeCount, 6);
    EXPECT_EQ(progress.back().secondsLeft, 0);

    const Trace trace = loadTrace(m_file);
    ASSERT_EQ(trace.runs.size(), 6U);
    EXPECT_EQ(trace.meta.at("why"), "a test");
    EXPECT_EQ(trace.runs[0].configToml, trace.runs[5].configToml);
    for (std::size_t step = 0; step < 5; ++step)
        EXPECT_EQ(trace.steps[step].loss, trace.steps[25 + step].loss) << "the same seed";
}

TEST_F(SessionTest, AModeThatFailsIsNotRepeated)
{
    RunRequest request = smallRun({"bf16"});
    request.config.optimizer = {.kind = plan::OptimizerKind::Sgd, .learningRate = 1000};
    request.config.steps = 500;
    request.repeats = 3;
    const RunOutcome outcome = run(request);
    EXPECT_FALSE(outcome.complete);
    EXPECT_THAT(outcome.message, HasSubstr("the bf16 (repeat 1 of 3) run failed after step"));
    EXPECT_EQ(loadTrace(m_file).runs.size(), 1U);
}

TEST_F(SessionTest, ACancelAmongRepeatsKeepsTheRunsBefore)
{
    RunRequest request = smallRun({"bf16", "fp8"});
    request.repeats = 2;
    const RunOutcome outcome = run(request, [&](const RunProgress& p) {
        if (p.modeIndex == 2 && p.step == 1)
            m_stop.request_stop();
    });
    EXPECT_TRUE(outcome.cancelled);
    EXPECT_THAT(outcome.message, HasSubstr("fp8 (repeat 2 of 2) run"));
    EXPECT_EQ(loadTrace(m_file).runs.size(), 3U);
}

TEST_F(SessionTest, AnExistingFileIsRefusedUnlessItMayBeReplaced)
{
    ASSERT_TRUE(run(smallRun({"bf16"})).complete);
    EXPECT_THROW(run(smallRun({"fp8"})), Error);
    EXPECT_EQ(loadTrace(m_file).runs.at(0).mode, "bf16");
    RunRequest request = smallRun({"fp8"});
    request.replace = true;
    EXPECT_TRUE(run(request).complete);
    EXPECT_EQ(loadTrace(m_file).runs.at(0).mode, "fp8");
}

TEST_F(SessionTest, AFileThatAnotherRunWritesIsRefused)
{
    const recorder::Recorder other(m_file);
    RunRequest request = smallRun({"bf16"});
    request.replace = true;
    EXPECT_THROW(run(request), Error);
}

TEST_F(SessionTest, NotEnoughMemoryIsRefusedBeforeAnythingIsWritten)
{
    RunRequest request = smallRun({"bf16"});
    request.config.widths = {1 << 18, 1 << 18, 1 << 18};
    request.config.batch = 1 << 16;
    try {
        run(request);
        FAIL() << "started";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), MatchesRegex(".*needs [0-9]+ bytes.*lower.*"));
    }
    EXPECT_FALSE(std::filesystem::exists(m_file));
}

TEST_F(SessionTest, AProgramThatIsMissingIsNamed)
{
    try {
        (void)runTraining(smallRun({"bf16"}), m_directory / "nothing", {}, {});
        FAIL() << "started";
    } catch (const Error& error) {
        EXPECT_EQ(error.where(), (m_directory / "nothing").string());
    }
    EXPECT_FALSE(std::filesystem::exists(m_file));
}

TEST_F(SessionTest, AFullDiskEndsTheRunWithWhatFitted)
{
    RunRequest request = smallRun({"bf16"});
    request.config.steps = kEndless;
    const std::filesystem::path said = m_directory / "said";
    const pid_t pid = forked([&] {
        const rlimit limits{400'000, 400'000};
        ::setrlimit(RLIMIT_FSIZE, &limits);
        const RunOutcome outcome = runTraining(request, kProgram, {}, {});
        std::ofstream(said) << outcome.message;
        return outcome.complete || outcome.cancelled ? 1 : 0;
    });
    const int status = statusOf(pid);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    std::string message;
    std::getline(std::ifstream(said), message);
    EXPECT_THAT(message, HasSubstr("recording stopped in the bf16 run"));
    EXPECT_THAT(message, MatchesRegex(".*the [0-9]+ finished steps? (are|is) in .*"));
    EXPECT_GT(loadTrace(m_file).steps.size(), 0U);
}

TEST_F(SessionTest, AKilledSessionTakesItsEngineAlong)
{
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // so that the orphaned engine becomes this test's child
    RunRequest request = smallRun({"bf16"});
    request.config.steps = kEndless;
    const std::filesystem::path engine = m_directory / "engine";
    const pid_t session = forked([&] {
        ::unsetenv("XDG_RUNTIME_DIR");
        ::setenv("TMPDIR", m_directory.path().c_str(),
                 1);  // what a killed session leaves is removed with the test's files
        (void)runTraining(request, kProgram,
                          [&](const RunProgress& p) {
                              if (p.step == 2)
                                  std::ofstream(engine) << childOf(::getpid()) << std::endl;
                          },
                          {});
        return 0;
    });
    pid_t enginePid = 0;
    while (!(std::ifstream(engine) >> enginePid))
        std::this_thread::sleep_for(10ms);
    ::kill(session, SIGKILL);
    EXPECT_EQ(WTERMSIG(statusOf(session)), SIGKILL);
    const int status = statusOf(enginePid);  // would wait for ever if the engine went on
    EXPECT_TRUE(WIFEXITED(status));
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    EXPECT_FALSE(loadTrace(m_file).complete) << "and what was flushed can be read";
}

TEST_F(SessionTest, AnEngineWhoseRecorderDiesTrainsToTheEnd)
{
    const std::filesystem::path address = m_directory / "address";
    const pid_t recorder = test::forkRecorder(m_file, address);
    const test::RecorderAddress where = test::awaitAddress(address);
    RunRequest request = smallRun({"bf16"});
    request.config.steps = 2000;
    std::ofstream(m_directory / "config.toml") << plan::toToml(request.config);
    ChildProcess engine({.program = kProgram,
                         .arguments = {"engine-worker", "--socket", where.socket, "--config",
                                       (m_directory / "config.toml").string(), "--mode", "bf16", "--threads", "1"},
                         .addedEnvironment = {{wire::kTokenVariable, where.token}},
                         .output = m_directory / "output"});
    while (!std::filesystem::exists(m_file) || loadTrace(m_file).steps.empty())
        std::this_thread::sleep_for(10ms);
    ::kill(recorder, SIGKILL);
    statusOf(recorder);
    const ExitStatus status = engine.wait();
    EXPECT_EQ(status.signal, 0);
    EXPECT_EQ(status.code, 0);
    EXPECT_LT(loadTrace(m_file).steps.size(), 2001U) << "it was still training when the recorder died";
    std::filesystem::remove_all(std::filesystem::path(where.socket).parent_path());
}

}  // namespace
}  // namespace fp8scope::session

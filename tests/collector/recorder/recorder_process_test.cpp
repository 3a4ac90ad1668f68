// SPDX-License-Identifier: Apache-2.0
// Processes that die: a producer, a recorder, a recorder on a full disk.
#include "collector/recorder/recorder.h"
#include "collector/trace/error.h"
#include "collector/trace/trace_reader.h"
#include "tests/collector/recorder/forked.h"
#include "tests/collector/recorder/test_producer.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <csignal>
#include <thread>

#include <sys/resource.h>

namespace fp8scope::recorder {
namespace {

using namespace std::chrono_literals;
using test::forked;
using test::statusOf;
using test::TemporaryFolder;
using test::TestProducer;
using ::testing::HasSubstr;

class RecorderProcessTest : public ::testing::Test {
protected:
    TemporaryFolder m_directory;
    std::filesystem::path m_file = m_directory / "test.fp8trace";
};

TEST_F(RecorderProcessTest, KilledProducerLeavesAReadableFile)
{
    std::uint64_t steps = 0;
    RecorderObserver observer;
    observer.onStep = [&](const RecordedRun& run, const Step&) { steps = run.steps; };
    Recorder recorder(m_file, TraceWriter::IfExists::Refuse, observer);
    const pid_t producer = forked([&] {
        TestProducer endless(recorder, "fp8");
        for (;;) {
            endless.step();
            std::this_thread::sleep_for(1ms);
        }
        return 0;
    });
    while (steps < 5)
        recorder.pump(10ms);
    ::kill(producer, SIGKILL);
    EXPECT_EQ(WTERMSIG(statusOf(producer)), SIGKILL);
    recorder.drain(5s);
    recorder.close();

    const Trace trace = loadTrace(m_file);
    EXPECT_EQ(trace.steps.size(), steps);
    EXPECT_EQ(trace.runs.at(0).note, "the process ended or closed its connection after step " + std::to_string(steps));
}

TEST_F(RecorderProcessTest, KilledRecorderLeavesItsBatchesAndTheProducerGoesOn)
{
    const std::filesystem::path address = m_directory / "address";
    const pid_t recorder = test::forkRecorder(m_file, address);
    const auto [socket, token] = test::awaitAddress(address);

    wire::Producer producer(socket, wire::helloOfThisProcess(token, "test"));
    wire::Encoder& records = producer.records();
    records.append(wire::RunBegin{.mode = "fp8", .startNs = test::steadyNs()});
    const auto sendStep = [&](std::uint32_t index) {
        records.append(wire::StepEnd{.index = index, .startNs = test::steadyNs(), .durNs = 1000, .loss = 0.5});
        producer.flush();
    };
    for (std::uint32_t step = 0; step < 3; ++step)
        sendStep(step);
    std::this_thread::sleep_for(600ms);  // more than twice what data may wait for its commit
    ::kill(recorder, SIGKILL);
    EXPECT_EQ(WTERMSIG(statusOf(recorder)), SIGKILL);
    for (std::uint32_t step = 3; step < 6; ++step)
        sendStep(step);  // must neither block nor raise SIGPIPE
    EXPECT_FALSE(producer.connected());

    const Trace trace = loadTrace(m_file);
    EXPECT_FALSE(trace.complete);
    EXPECT_EQ(trace.steps.size(), 3U);
    EXPECT_THAT(trace.runs.at(0).note, HasSubstr("cut off"));
    std::filesystem::remove_all(std::filesystem::path(socket).parent_path());
}

/// In a process that may not write files of more than `limit` bytes: records until that stops it. Exit codes name the
/// outcome.
int recordOntoAFullDisk(const std::filesystem::path& file, rlim_t limit)
{
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limits{limit, limit};
    if (::setrlimit(RLIMIT_FSIZE, &limits) != 0)
        return 10;
    Recorder recorder(file);
    TestProducer producer(recorder, "fp8");
    try {
        for (int step = 0; step < 100'000; ++step) {
            producer.step(200);
            recorder.pump(1ms);
        }
        return 11;  // never full
    } catch (const Error&) {
        recorder.pump(1ms);  // once is enough
        return recorder.failed() && recorder.durableSteps() > 0 ? 0 : 12;
    }
}

TEST_F(RecorderProcessTest, FullDiskStopsRecordingAndKeepsWhatFitted)
{
    const pid_t pid = forked([&] { return recordOntoAFullDisk(m_file, 300'000); });
    const int status = statusOf(pid);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 0);
    const Trace trace = loadTrace(m_file);
    EXPECT_FALSE(trace.complete);
    EXPECT_GT(trace.steps.size(), 0U);
    EXPECT_GT(trace.sliceCount(), 0U);
}

}  // namespace
}  // namespace fp8scope::recorder

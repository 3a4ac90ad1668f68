// SPDX-License-Identifier: Apache-2.0
// What producers send is what the trace holds, whoever they are and however they end.
#include "collector/recorder/recorder.h"
#include "collector/trace/error.h"
#include "collector/trace/trace_reader.h"
#include "tests/collector/recorder/test_producer.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include <sys/stat.h>

namespace fp8scope::recorder {
namespace {

using namespace std::chrono_literals;
using test::TemporaryFolder;
using test::TestProducer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Receives all that has been sent so far.
void pumpAll(Recorder& recorder)
{
    for (int i = 0; i < 10; ++i)
        recorder.pump(5ms);
}

class RecorderTest : public ::testing::Test {
protected:
    TemporaryFolder m_directory;
    std::filesystem::path m_file = m_directory / "test.fp8trace";
};

TEST_F(RecorderTest, ARunComesBackWhole)
{
    Recorder recorder(m_file);
    {
        TestProducer producer(recorder, "fp8");
        producer.step(4);
        producer.step(4);
        producer.end();
    }
    recorder.drain(5s);
    recorder.close();

    const Trace trace = loadTrace(m_file);
    EXPECT_TRUE(trace.complete);
    ASSERT_EQ(trace.runs.size(), 1U);
    EXPECT_EQ(trace.runs[0].mode, "fp8");
    EXPECT_TRUE(trace.runs[0].complete);
    EXPECT_EQ(trace.runs[0].note, "");
    EXPECT_EQ(trace.runs[0].endNs - trace.runs[0].startNs, 2'000'000);
    ASSERT_EQ(trace.steps.size(), 2U);
    EXPECT_EQ(trace.steps[1].loss, 1.0);
    EXPECT_EQ(trace.steps[1].startNs - trace.steps[0].startNs, 1'000'000);
    ASSERT_EQ(trace.tracks.size(), 1U);
    const SliceColumns& slices = trace.tracks[0].slices;
    ASSERT_EQ(slices.size(), 8U);
    EXPECT_EQ(slices.startNs[1] - slices.startNs[0], 250'000);
    EXPECT_EQ(trace.name(slices.name[0]).text, "fp8 op");
    EXPECT_EQ(trace.layer(trace.op(slices.op[0]).layer).name, "fp8 layer");
    ASSERT_EQ(trace.tensorStats.size(), 2U);
    EXPECT_EQ(trace.tensorStats[1].tensor, "fp8.x");
    EXPECT_EQ(trace.processes.at(0).pid, static_cast<std::uint32_t>(::getpid()));
    EXPECT_EQ(trace.devices.at(0).name, "test cpu");
}

TEST_F(RecorderTest, TimesStartWithTheTraceAndItsClocksAreInMeta)
{
    const std::int64_t beforeNs = test::steadyNs();
    Recorder recorder(m_file);
    TestProducer(recorder, "fp8").step();
    recorder.drain(5s);
    recorder.close();
    const Trace trace = loadTrace(m_file);
    const std::int64_t startNs = std::stoll(trace.meta.at("start_monotonic_ns"));
    EXPECT_GE(startNs, beforeNs);
    EXPECT_GE(trace.steps.at(0).startNs, 0);
    EXPECT_LE(startNs + trace.steps[0].startNs, test::steadyNs());
    EXPECT_GT(std::stoll(trace.meta.at("start_wall_ns")), 1'600'000'000'000'000'000);
}

TEST_F(RecorderTest, SeveralProducersAtOnceKeepTheirOwnIds)
{
    constexpr int kProducers = 4, kSteps = 50, kSlices = 300;
    Recorder recorder(m_file);
    std::atomic<int> running = kProducers;
    std::vector<std::jthread> threads;
    for (int i = 0; i < kProducers; ++i)
        threads.emplace_back([&, i] {
            TestProducer producer(recorder, "mode" + std::to_string(i));
            for (int step = 0; step < kSteps; ++step)
                producer.step(kSlices);
            producer.end();
            --running;
        });
    while (running > 0)
        recorder.pump(10ms);
    threads.clear();
    recorder.drain(5s);
    recorder.close();

    const Trace trace = loadTrace(m_file);
    ASSERT_EQ(trace.runs.size(), 4U);
    EXPECT_EQ(trace.devices.size(), 1U) << "one CPU, told four times";
    EXPECT_EQ(trace.steps.size(), 4U * kSteps);
    ASSERT_EQ(trace.tracks.size(), 4U);
    for (const Track& track : trace.tracks) {
        const std::string& mode = trace.run(track.run).mode;
        EXPECT_EQ(track.name, mode + " queue");
        ASSERT_EQ(track.slices.size(), std::size_t{kSteps} * kSlices);
        for (std::size_t i = 0; i < track.slices.size(); i += 997) {
            EXPECT_EQ(trace.name(track.slices.name[i]).text, mode + " op");
            EXPECT_EQ(trace.op(track.slices.op[i]).run, track.run);
        }
    }
}

TEST_F(RecorderTest, ALostProducerLeavesItsFinishedStepsAndASentence)
{
    Recorder recorder(m_file);
    {
        TestProducer producer(recorder, "fp8");
        producer.step();
        producer.step();
    }  // closes without a bye
    recorder.drain(5s);
    recorder.close();
    const Trace trace = loadTrace(m_file);
    EXPECT_TRUE(trace.complete) << "the file is closed; it is the run that is not complete";
    EXPECT_FALSE(trace.runs.at(0).complete);
    EXPECT_EQ(trace.runs[0].note, "the process ended or closed its connection after step 2");
    EXPECT_EQ(trace.runs[0].endNs, trace.steps.at(1).startNs + 1'000'000);
}

TEST_F(RecorderTest, TheOwnerMayExplainWhyARunIsIncomplete)
{
    Recorder recorder(m_file);
    TestProducer(recorder, "fp8").step();
    recorder.drain(5s);
    recorder.explain(recorder.runs().at(0).id, "killed by signal 9 after step 1");
    recorder.close();
    EXPECT_EQ(loadTrace(m_file).runs.at(0).note, "killed by signal 9 after step 1");
}

TEST_F(RecorderTest, AWrongTokenIsRefusedAndOthersAreNotDisturbed)
{
    Recorder recorder(m_file);
    TestProducer good(recorder, "good");
    TestProducer bad(recorder, "bad", std::string(32, '0'));
    bad.step();
    good.step();
    pumpAll(recorder);
    bad.step();
    bad.step();
    EXPECT_FALSE(bad.wire().connected());
    good.end();
    recorder.drain(5s);
    recorder.close();
    const Trace trace = loadTrace(m_file);
    ASSERT_EQ(trace.runs.size(), 1U);
    EXPECT_EQ(trace.runs[0].mode, "good");
    EXPECT_TRUE(trace.runs[0].complete);
    ASSERT_EQ(trace.diagnostics.size(), 1U);
    EXPECT_EQ(trace.diagnostics[0].name, "producer_refused");
    EXPECT_THAT(trace.diagnostics[0].text, AllOf(HasSubstr("wrong token"), HasSubstr(std::to_string(::getpid()))));
}

TEST_F(RecorderTest, AMalformedRecordEndsItsRunAsDataLoss)
{
    Recorder recorder(m_file);
    TestProducer producer(recorder, "fp8");
    producer.step();
    producer.wire().records().append(wire::Sample{.track = wire::LocalTrack(99)});
    producer.wire().flush();
    recorder.drain(5s);
    recorder.close();
    const Trace trace = loadTrace(m_file);
    EXPECT_THAT(trace.runs.at(0).note, HasSubstr("not a record after step 1"));
    ASSERT_EQ(trace.diagnostics.size(), 1U);
    EXPECT_EQ(trace.diagnostics[0].severity, Severity::DataLoss);
    EXPECT_THAT(trace.diagnostics[0].text, HasSubstr("id 99, which was never declared"));
}

TEST_F(RecorderTest, DataIsReadableWithinAMomentWhileRecordingGoesOn)
{
    Recorder recorder(m_file);
    TestProducer producer(recorder, "fp8");
    producer.sendSlices(test::steadyNs(), 10);  // no step ends: only the clock makes it durable
    const auto sent = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - sent < 400ms)
        recorder.pump(20ms);
    const Trace trace = loadTrace(m_file);
    EXPECT_EQ(trace.sliceCount(), 10U);
    EXPECT_FALSE(trace.complete);
    EXPECT_THAT(trace.runs.at(0).note, HasSubstr("cut off"));
}

TEST_F(RecorderTest, ObserversAreToldInOrder)
{
    std::vector<std::string> events;
    RecorderObserver observer;
    observer.onRunBegan = [&](const RecordedRun& run) { events.push_back("began " + run.run.mode); };
    observer.onStep = [&](const RecordedRun& run, const Step& step) {
        events.push_back("step " + std::to_string(run.steps) + " index " + std::to_string(step.index));
    };
    observer.onRunEnded = [&](const RecordedRun& run) {
        events.push_back(run.run.complete ? "complete" : run.run.note);
    };
    observer.onDiagnostic = [&](const Diagnostic& diagnostic) { events.push_back(diagnostic.text); };
    Recorder recorder(m_file, TraceWriter::IfExists::Refuse, observer);
    {
        TestProducer producer(recorder, "fp8");
        producer.step();
        producer.wire().records().append(wire::Diagnostic{.name = "odd", .text = "something odd"});
        producer.step();
        producer.end();
    }
    recorder.drain(5s);
    EXPECT_THAT(events, ElementsAre("began fp8", "step 1 index 0", "something odd", "step 2 index 1", "complete"));
}

TEST_F(RecorderTest, ASecondRecorderOnOneFileIsRefused)
{
    Recorder first(m_file);
    EXPECT_THROW(Recorder second(m_file), Error);
    EXPECT_THROW(Recorder second(m_file, TraceWriter::IfExists::Replace), Error) << "it is being written";
    TestProducer producer(first, "fp8");
    producer.step();
    producer.end();
    pumpAll(first);
    first.close();
    EXPECT_EQ(loadTrace(m_file).steps.size(), 1U) << "the first was not disturbed";
}

TEST_F(RecorderTest, ClosingEndsRunsThatStillGoOn)
{
    Recorder recorder(m_file);
    TestProducer producer(recorder, "fp8");
    producer.step();
    pumpAll(recorder);
    recorder.close();
    recorder.pump(1ms);  // does nothing any more
    producer.step();
    producer.step();
    EXPECT_FALSE(producer.wire().connected());
    EXPECT_THAT(loadTrace(m_file).runs.at(0).note, HasSubstr("the recorder was closed after step 1"));
}

TEST(SessionDirectoryTest, OnlyTheOwnerMayEnterAndNothingIsLeft)
{
    std::filesystem::path path;
    {
        const SessionDirectory directory;
        path = directory.path();
        struct stat status {};
        ASSERT_EQ(::stat(path.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777U, 0700U);
        EXPECT_EQ(status.st_uid, ::geteuid());
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(SessionDirectoryTest, ARootThatCannotServeIsPassedOver)
{
    const TemporaryFolder scratch;
    const std::filesystem::path deep = scratch.path() / std::string(100, 'x');
    std::filesystem::create_directories(deep);  // a socket in it would have a path longer than the system takes
    const SessionDirectory directory({"/nonexistent", deep, scratch.path()});
    EXPECT_EQ(directory.path().parent_path(), scratch.path());
    try {
        const SessionDirectory none({"/nonexistent"});
        FAIL() << "made " << none.path();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("/nonexistent"));
    }
}

}  // namespace
}  // namespace fp8scope::recorder

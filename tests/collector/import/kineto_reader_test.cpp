// SPDX-License-Identifier: Apache-2.0
#include "collector/import/kineto_reader.h"

#include "collector/trace/error.h"
#include "tests/support/kineto_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace fp8scope::import {
namespace {

using test::KinetoFile;
using test::KinetoGeneration;
using testing::HasSubstr;

RawEvents read(std::string_view json, unsigned threads = 1) { return readKineto(json, "t.json", {.threads = threads}); }

RawEvents readEvents(const std::string& events) { return read("{\"traceEvents\": [" + events + "]}"); }

std::uint64_t countOf(const RawEvents& raw, std::string_view diagnostic)
{
    std::uint64_t count = 0;
    for (const Diagnostic& d : raw.diagnostics)
        count += d.name == diagnostic ? d.count : 0;
    return count;
}

std::string nameOf(const RawEvents& raw, NameId name) { return raw.names[name.value].text; }

/// All that came of it, as text, times from the first event on: for "the same events".
std::string digest(const RawEvents& raw)
{
    std::int64_t first = INT64_MAX;
    for (const DeviceEvent& e : raw.device)
        first = std::min(first, e.startNs);
    for (const HostEvent& e : raw.host)
        first = std::min(first, e.startNs);
    std::string text;
    for (const DeviceEvent& e : raw.device)
        text += nameOf(raw, e.name) + " " + raw.tracks[e.track].track.name + " " + std::to_string(e.startNs - first) +
                "+" + std::to_string(e.durNs) + " c" + std::to_string(e.correlation) + "\n";
    for (const HostEvent& e : raw.host)
        text += nameOf(raw, e.name) + " " + raw.tracks[e.track].track.name + " " + std::to_string(e.startNs - first) +
                "+" + std::to_string(e.durNs) + " x" + std::to_string(e.externalId) + "\n";
    for (const Sample& s : raw.samples)
        text += raw.tracks[s.track.value].track.name + " " + std::to_string(s.value) + "\n";
    return text;
}

class EveryGeneration : public testing::TestWithParam<KinetoGeneration> {};

TEST_P(EveryGeneration, IsReadWithItsOwnWords)
{
    const KinetoFile file{.generation = GetParam()};
    const test::ProfiledLoop loop = test::makeProfiledLoop(loopOf(file));
    const bool cpuOnly = GetParam() == KinetoGeneration::CpuOnly;
    const RawEvents raw = read(test::kinetoJson(file));

    ASSERT_EQ(raw.device.size(), cpuOnly ? 0 : loop.work.size());
    EXPECT_EQ(raw.producer, "PyTorch profiler");
    EXPECT_EQ(countOf(raw, "unknown_category"), 0U);
    for (std::size_t i = 0; i < raw.device.size(); ++i) {
        const test::ProfiledWork& work = loop.work[i];
        const DeviceEvent& event = raw.device[i];
        EXPECT_EQ(nameOf(raw, event.name), work.name);
        EXPECT_EQ(raw.names[event.name.value].kind, work.kind);
        EXPECT_EQ(event.durNs, work.durNs);
        EXPECT_EQ(event.startNs - raw.device[0].startNs, work.startNs - loop.work[0].startNs);
        EXPECT_EQ(event.correlation, work.correlation);
        EXPECT_EQ(raw.tracks[event.track].track.name, "GPU 0 stream " + std::to_string(work.stream));
        EXPECT_EQ(raw.tracks[event.track].track.kind, TrackKind::DeviceQueue);
    }
    const auto ops = std::count_if(raw.host.begin(), raw.host.end(),
                                   [](const HostEvent& e) { return e.arguments != DeviceEvent::kNoArguments; });
    EXPECT_EQ(static_cast<std::size_t>(ops), loop.ops.size()) << "each op has its shapes";
    EXPECT_EQ(raw.epochWallNs + raw.host[0].startNs, test::kKinetoBaseNs + loop.ranges[0].startNs)
        << "on the wall's clock";
}

INSTANTIATE_TEST_SUITE_P(Kineto, EveryGeneration, testing::ValuesIn(test::kKinetoGenerations),
                         [](const auto& p) { return std::string(toString(p.param)); });

TEST(KinetoReaderTest, KeysMayComeInAnyOrderAndEventsMayStandAlone)
{
    const std::string usual = digest(read(test::kinetoJson()));
    EXPECT_EQ(digest(read(test::kinetoJson({.eventsFirst = true}))), usual);
    EXPECT_EQ(read(test::kinetoJson({.eventsFirst = true})).epochWallNs, read(test::kinetoJson()).epochWallNs);
    EXPECT_EQ(digest(read(test::kinetoJson({.bareArray = true}))), usual);
    const RawEvents raw = readEvents(
        R"({"args": {"correlation": 5, "device": 0, "stream": 7}, "dur": 2, "ts": 1, "tid": 7, "pid": 0, "name": "k", "cat": "kernel", "ph": "X"})");
    ASSERT_EQ(raw.device.size(), 1U);
    EXPECT_EQ(raw.device[0].correlation, 5U) << "args before the phase and the category";
}

TEST(KinetoReaderTest, BlocksOfAnySizeAndAnyThreadsGiveTheSame)
{
    const std::string json = test::kinetoJson({.generation = KinetoGeneration::Y2026, .eventsFirst = true});
    const std::string whole = digest(read(json));
    for (const std::size_t blockBytes : {1U, 300U, 1000U, 20'000U}) {
        for (const unsigned threads : {1U, 3U}) {
            const auto source = openMemory(json);
            const RawEvents raw = readKineto(*source, "t.json", {.threads = threads}, blockBytes);
            EXPECT_TRUE(digest(raw) == whole) << blockBytes << " bytes, " << threads << " threads";
            EXPECT_EQ(countOf(raw, "unfinished_file"), 0U);
        }
    }
}

class EveryDamage : public testing::TestWithParam<test::KinetoDamage> {};

TEST_P(EveryDamage, LosesNothingThatIsThere)
{
    const std::string json = test::kinetoJson();
    const RawEvents whole = read(json);
    const RawEvents raw = read(test::damaged(json, GetParam()));
    EXPECT_EQ(raw.device.size(), whole.device.size());
    EXPECT_EQ(raw.host.size(), whole.host.size());
    switch (GetParam()) {
    case test::KinetoDamage::CutInAnEvent:
        EXPECT_EQ(countOf(raw, "unfinished_file"), 1U);
        EXPECT_EQ(countOf(raw, "unreadable_event"), 1U);
        break;
    case test::KinetoDamage::NoClosingBracket: EXPECT_EQ(countOf(raw, "unfinished_file"), 1U); break;
    case test::KinetoDamage::TrailingComma: EXPECT_EQ(countOf(raw, "unfinished_file"), 0U); break;
    case test::KinetoDamage::EmptyLastEvent: EXPECT_EQ(countOf(raw, "not_an_event"), 1U); break;
    default: EXPECT_EQ(countOf(raw, "mended_json"), 1U);
    }
}

INSTANTIATE_TEST_SUITE_P(Kineto, EveryDamage, testing::ValuesIn(test::kKinetoDamages),
                         [](const auto& p) { return std::string(toString(p.param)); });

TEST(KinetoReaderTest, QuotesAndBackslashesInNamesComeBack)
{
    const std::pair<std::string, std::string> names[] = {
        {R"(C:\Users\me\x.py(3): f)", R"(C:\Users\me\x.py(3): f)"},
        {R"(say "hi", please)", R"(say "hi", please)"},
        {"two\nlines", "two\nlines"},
        {"tab\tand\x02", "tab\tand\x02"},
        {"broken \xff byte", "broken \xef\xbf\xbd byte"},
        {R"(C:\dir\)", R"(C:\dir\)"},
    };
    for (const auto& [written, expected] : names) {
        const RawEvents raw = readEvents(R"({"ph": "X", "cat": "python_function", "name": ")" + written +
                                         R"(", "pid": 1, "tid": 2, "ts": 3, "dur": 4},
 {"ph": "X", "cat": "cpu_op", "name": "next", "pid": 1, "tid": 2, "ts": 5, "dur": 1})");
        ASSERT_EQ(raw.host.size(), 2U) << written;
        EXPECT_EQ(nameOf(raw, raw.host[0].name), expected);
        EXPECT_EQ(nameOf(raw, raw.host[1].name), "next");
        EXPECT_EQ(countOf(raw, "mended_json"), 1U) << "only the broken one";
    }
}

TEST(KinetoReaderTest, EarlyPyTorchForgotAQuote)
{
    const RawEvents raw =
        read(R"([{"name": "aten::mm", "ph": "X", "ts": 1.5, "dur": 2, tid": 3, "pid": "CPU functions", "args": {}}])");
    ASSERT_EQ(raw.host.size(), 1U);
    EXPECT_EQ(raw.host[0].durNs, 2000);
    EXPECT_EQ(raw.processes.at(0).name, "CPU functions");
}

TEST(KinetoReaderTest, ABrokenEventDoesNotTakeItsNeighboursWithIt)
{
    std::string events;
    for (int i = 0; i < 1000; ++i) {
        const std::string name = i == 500 ? "a\"b" : "op";
        events += (i > 0 ? "," : "") + std::string(R"({"ph": "X", "cat": "cpu_op", "name": ")") + name +
                  R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(i) + "}";
    }
    events += R"(,{"ph": "X", "cat": "cpu_op", "name": "x", "ts": })";
    const RawEvents raw = readEvents(events);
    EXPECT_EQ(raw.host.size(), 1000U);
    EXPECT_EQ(countOf(raw, "mended_json"), 1U);
    EXPECT_EQ(countOf(raw, "unreadable_event"), 1U);
}

TEST(KinetoReaderTest, IdsAndTimesKeepEveryDigit)
{
    const RawEvents raw = readEvents(
        R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1712195495519689.047,"dur":0.001,
            "args":{"correlation":18446744073709551615,"External id":10159970886766084423}},
           {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":18446744073709551615,"ts":1712195495519689.049,"dur":1})");
    ASSERT_EQ(raw.device.size(), 2U);
    EXPECT_EQ(raw.epochWallNs + raw.device[0].startNs, 1712195495519689047);
    EXPECT_EQ(raw.device[1].startNs - raw.device[0].startNs, 2);
    EXPECT_EQ(raw.device[0].durNs, 1);
    EXPECT_EQ(raw.device[0].correlation, 18446744073709551615U);
    EXPECT_EQ(raw.device[0].externalId, 10159970886766084423U);
}

TEST(KinetoReaderTest, ATimeThatIsDecadesOffIsLeftOut)
{
    std::string events = R"({"ph":"X","cat":"kernel","name":"first","pid":0,"tid":7,"ts":-9000000000000000,"dur":1})";
    for (int i = 0; i < 4; ++i)
        events += R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":171219549551968)" + std::to_string(i) +
                  R"(,"dur":1})";
    events += R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1e300,"dur":1})";
    const RawEvents raw = readEvents(events);
    EXPECT_EQ(raw.device.size(), 4U);
    EXPECT_EQ(countOf(raw, "event_without_time"), 2U);
}

TEST(KinetoReaderTest, WaitsAndRangesOnADeviceAreNoWork)
{
    const RawEvents raw = readEvents(
        R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":1,"dur":5,"args":{"device":1,"stream":7}},
           {"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":1,"tid":7,"ts":1,"dur":9,"args":{"stream":4294967295}},
           {"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","pid":1,"tid":7,"ts":0,"dur":7})");
    ASSERT_EQ(raw.tracks.size(), 3U);
    EXPECT_EQ(raw.tracks[0].track.name, "GPU 1 stream 7");
    EXPECT_EQ(raw.tracks[1].track.kind, TrackKind::Annotation);
    EXPECT_EQ(raw.tracks[2].track.name, "GPU 1 stream 7 ranges");
    EXPECT_EQ(raw.tracks[2].track.device, raw.tracks[0].track.device);
}

TEST(KinetoReaderTest, ArrowsAreKeptOnlyWhereCorrelationsDoNotSayTheSame)
{
    const std::string said =
        R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":1,"dur":1,"args":{"correlation":4}},
           {"ph":"s","id":4,"pid":9,"tid":9,"ts":1,"cat":"ac2g","name":"ac2g"})";
    EXPECT_EQ(readEvents(said).flows.size(), 0U);
    const RawEvents raw = readEvents(
        R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":1,"dur":1},
           {"ph":"s","id":4,"pid":9,"tid":9,"ts":1,"cat":"ac2g","name":"ac2g"},
           {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2,"dur":1},
           {"ph":"f","bp":"e","id":4,"pid":0,"tid":7,"ts":2,"cat":"ac2g","name":"ac2g"},
           {"ph":"f","bp":"e","id":4,"pid":3,"tid":3,"ts":2,"cat":"ac2g","name":"ac2g"})");
    ASSERT_EQ(raw.flows.size(), 2U);
    EXPECT_EQ(raw.tracks[raw.flows[1].track].track.kind, TrackKind::DeviceQueue);
    EXPECT_EQ(countOf(raw, "loose_flow"), 1U) << "the third touches no row";
}

TEST(KinetoReaderTest, MemoryEventsAndCountersBecomeCounterTracks)
{
    const RawEvents raw = readEvents(
        R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":1,"ts":2,
            "args":{"Total Reserved":300,"Total Allocated":200,"Bytes":50,"Device Id":0,"Device Type":1}},
           {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":2,"args":{"Device Type":0,"Device Id":-1,"Bytes":8}},
           {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":1,"args":{"Device Type":0,"Device Id":-1,"Bytes":4}},
           {"ph":"C","cat":"hardware_counters","name":"SMs Active","pid":"GPU 0 Counters","tid":0,"ts":3,"args":{"":87.5}})");
    EXPECT_EQ(digest(raw), "GPU 0 memory allocated 200.000000\n"
                           "GPU 0 memory reserved 300.000000\n"
                           "CPU memory since the start 4.000000\n"
                           "CPU memory since the start 12.000000\n"
                           "GPU 0 Counters SMs Active 87.500000\n")
        << "old files only tell changes: they are summed in time order";
}

TEST(KinetoReaderTest, CollectivesKeepWhatTheyDescribe)
{
    const RawEvents raw = readEvents(
        R"({"ph":"X","cat":"kernel","name":"ncclDevKernel","pid":0,"tid":7,"ts":1,"dur":1,"args":{
            "Collective name":"allreduce","In msg nelems":1024,"Group size":8,"dtype":"BFloat16","Seq":12,
            "Process Group Name":"3","Process Group Ranks":"[0, 1, 2]","Comms Id":10159970886766084423,
            "occupancy":{"activeBlocksPerMultiprocessor":1,"limitingFactors":"WARPS|REGS"},"grid":[24,1,1],"block":[544,1,1]}})");
    ASSERT_EQ(raw.device.size(), 1U);
    const Arguments& said = raw.arguments.at(raw.device[0].arguments);
    EXPECT_EQ(said.collective, "allreduce");
    EXPECT_EQ(said.types, "BFloat16");
    EXPECT_EQ(said.group, "3");
    EXPECT_EQ(said.groupRanks, "[0, 1, 2]");
    EXPECT_EQ(said.messageElements, 1024);
    EXPECT_EQ(said.sequence, 12);
    EXPECT_EQ(raw.launchShapes.at(raw.device[0].launchShape.value).block[0], 544U);
}

TEST(KinetoReaderTest, DevicesMayBeMissingOrOther)
{
    const RawEvents raw = read(
        R"({"deviceProperties": [{"id": 0, "name": "", "warpSize": 64, "computeMajor": 9, "computeMinor": 4, "numSms": 304}],
            "distributedInfo": {"rank": 3}, "traceEvents": [
            {"ph":"X","cat":"kernel","name":"k","pid":9,"tid":0,"ts":1,"dur":1,"args":{"device":9}}]})");
    ASSERT_EQ(raw.devices.size(), 1U);
    EXPECT_EQ(raw.devices[0].name, "AMD GPU");
    EXPECT_EQ(raw.devices[0].arch, "gfx94");
    EXPECT_EQ(raw.tracks[0].track.name, "GPU 9 stream 0");
    EXPECT_EQ(raw.processes.at(0).rank, 3);
}

TEST(KinetoReaderTest, AnyChromeTraceOpensAsRanges)
{
    const RawEvents raw = read(R"([
        {"ph":"B","name":"outer","pid":1,"tid":1,"ts":0}, {"ph":"B","name":"inner","pid":1,"tid":1,"ts":2},
        {"ph":"E","pid":1,"tid":1,"ts":5}, {"ph":"E","pid":1,"tid":1,"ts":9}, {"ph":"E","pid":1,"tid":1,"ts":9},
        {"ph":"b","cat":"net","id":"0xa","name":"load","pid":1,"tid":1,"ts":1},
        {"ph":"e","cat":"net","id":"0xa","name":"load","pid":1,"tid":2,"ts":4},
        {"ph":"X","cat":"io","name":"x","pid":1,"tid":1,"ts":3,"dur":1}, {"ph":"N","name":"object","id":1,"ts":0}])");
    EXPECT_EQ(raw.producer, "Chrome trace");
    EXPECT_EQ(digest(raw), "x thread 1 3000+1000 x0\n"
                           "inner thread 1 2000+3000 x0\n"
                           "outer thread 1 0+9000 x0\n"
                           "load async net 1000+3000 x0\n");
    for (const RawTrack& track : raw.tracks)
        EXPECT_EQ(track.track.kind, TrackKind::Annotation);
    EXPECT_EQ(countOf(raw, "end_without_begin"), 1U);
    EXPECT_EQ(countOf(raw, "unknown_phase"), 1U);
    EXPECT_EQ(countOf(raw, "unknown_category"), 1U);
}

TEST(KinetoReaderTest, WhatIsNoTraceIsRefusedInOneSentence)
{
    const std::pair<const char*, const char*> files[] = {
        {"", "is no JSON"},
        {"hello", "is no JSON"},
        {"{}", "holds no traceEvents"},
        {R"({"nodes": [1, 2]})", "holds no traceEvents"},
        {R"({"traceEvents": []})", "holds no trace events"},
        {R"({"traceEvents": [)", "holds no trace events"},
    };
    for (const auto& [json, message] : files) {
        try {
            (void)read(json);
            ADD_FAILURE() << json;
        } catch (const Error& e) {
            EXPECT_THAT(e.what(), HasSubstr(message));
            EXPECT_EQ(e.where(), "t.json");
        }
    }
}

TEST(KinetoReaderTest, StopsWhenAsked)
{
    std::stop_source stop;
    stop.request_stop();
    const std::string json = test::kinetoJson();
    EXPECT_THROW((void)readKineto(json, "t.json", {.stop = stop.get_token()}), ImportCancelled);
}

TEST(KinetoReaderTest, ReportsProgressInBytesOfTheFile)
{
    const std::string json = test::kinetoJson();
    std::uint64_t last = 0;
    ImportOptions options;
    options.onProgress = [&](const ImportProgress& p) {
        EXPECT_EQ(p.stage, "reading");
        EXPECT_EQ(p.total, json.size());
        EXPECT_GE(p.done, last);
        last = p.done;
    };
    (void)readKineto(json, "t.json", options);
    EXPECT_EQ(last, json.size());
}

}  // namespace
}  // namespace fp8scope::import

// SPDX-License-Identifier: Apache-2.0
// Recognition by content, folders, archives, ranks.
#include "collector/import/import.h"
#include "collector/import/ranks.h"
#include "collector/trace/error.h"
#include "tests/support/kineto_json.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>

namespace fp8scope::import {
namespace {

using test::KinetoFile;
using testing::ElementsAre;
using testing::HasSubstr;

std::string gzipped(const std::string& text)
{
    z_stream stream{};
    deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string packed(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

std::string tarOf(const std::vector<std::pair<std::string, std::string>>& members)
{
    std::string archive;
    for (const auto& [name, content] : members) {
        std::string header(512, '\0');
        name.copy(header.data(), 100);
        char size[13];
        std::snprintf(size, sizeof size, "%011zo", content.size());
        std::copy_n(size, 11, header.data() + 124);
        header[156] = '0';
        std::copy_n("ustar", 5, header.data() + 257);
        std::fill_n(header.data() + 148, 8, ' ');
        unsigned sum = 0;
        for (const char c : header)
            sum += static_cast<unsigned char>(c);
        char check[8];
        std::snprintf(check, sizeof check, "%06o", sum);
        std::copy_n(check, 7, header.data() + 148);
        archive += header + content + std::string((512 - content.size() % 512) % 512, '\0');
    }
    return archive + std::string(1024, '\0');
}

class ImportFilesTest : public testing::Test {
protected:
    std::filesystem::path put(const std::string& name, const std::string& content)
    {
        const std::filesystem::path path = m_folder.path() / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << content;
        return path;
    }
    Trace import(const std::vector<std::filesystem::path>& paths) { return importFiles(paths, {.threads = 1}); }
    static std::vector<std::string> modesOf(const Trace& trace)
    {
        std::vector<std::string> modes;
        for (const fp8scope::Run& run : trace.runs)
            modes.push_back(run.mode);
        return modes;
    }
    static std::vector<std::string> skippedIn(const Trace& trace)
    {
        std::vector<std::string> texts;
        for (const Diagnostic& d : trace.diagnostics) {
            if (d.name == "skipped_file")
                texts.push_back(d.text);
        }
        return texts;
    }

    test::TemporaryFolder m_folder;
};

TEST_F(ImportFilesTest, RecognizesByContentWhateverTheName)
{
    using namespace std::string_literals;
    const std::string kineto = test::kinetoJson();
    const std::tuple<std::string, FileKind, const char*> files[] = {
        {kineto, FileKind::KinetoJson, "PyTorch's profiler"},
        {gzipped(kineto), FileKind::KinetoJson, "PyTorch's profiler"},
        {test::kinetoJson({.bareArray = true}), FileKind::KinetoJson, "PyTorch's profiler"},
        {test::damaged(kineto, test::KinetoDamage::CutInAnEvent), FileKind::KinetoJson, "PyTorch's profiler"},
        {R"({"traceEvents": [{"ph":"B","ts":1,"name":"x"}]})", FileKind::ChromeJson, "Chrome trace"},
        {gzipped(tarOf({{"a.json", kineto}, {"._a.json", "x"}})), FileKind::TarArchive, "archive of 1 file"},
        {"NVIDIA Tegra Profiler Report 1.\nxxxxxxxx", FileKind::NsysReport, ".nsys-rep"},
        {R"({"schema": "1.0.1", "pid": 3, "nodes": [)", FileKind::Neighbour, "execution trace"},
        {R"({"rocprofiler-sdk-tool": [{}]})", FileKind::Neighbour, "rocprofiler-sdk"},
        {"[[-1, 1, 37888, 7], [-1, 1, 512, 7]]", FileKind::Neighbour, "memory timeline"},
        {"\x0a\x20\x08\x01\x12\x0c/device:GPU:0"s, FileKind::Neighbour, "XPlane"},
        {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n", FileKind::Neighbour, "Git LFS"},
        {"PK\x03\x04zzzzzzzzzzzzzzzzzzz"s, FileKind::Neighbour, "zip"},
        {"\x80\x04\x95zzzzzzzzzzzzzzzzzzz"s, FileKind::Neighbour, "pickle"},
        {"<!DOCTYPE html><html><body>log in</body></html>", FileKind::Neighbour, "web page"},
        {"hello, this is a text of some length", FileKind::Unknown, "plain text"},
        {"", FileKind::Unknown, "empty"},
        {"\x01\x02", FileKind::Unknown, "too short"},
        {R"({"a": 1, "b": [2, 3], "c": "ddddd"})", FileKind::Unknown, "JSON without trace events"},
    };
    for (const auto& [content, kind, words] : files) {
        const Recognized found = recognize(put("file.bin", content));
        EXPECT_EQ(found.kind, kind) << words << ": " << found.what;
        EXPECT_THAT(found.what, HasSubstr(words));
        EXPECT_EQ(found.mend.empty(), found.opens()) << words << ": what does not open says what to do";
    }
}

TEST_F(ImportFilesTest, AFileThatDoesNotOpenSaysWhatItIsAndWhatToDo)
{
    const auto path = put("run.sqlite", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n");
    try {
        (void)import({path});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.where(), path.string());
        EXPECT_THAT(e.what(), HasSubstr("git lfs pull"));
    }
    EXPECT_THROW((void)import({m_folder / "missing.json"}), Error);
}

TEST_F(ImportFilesTest, ANsysReportNeedsNsys)
{
    const auto path = put("my run.nsys-rep", "NVIDIA Tegra Profiler Report 1.\nxxxxxxxx");
    ::setenv("PATH", "/nonexistent", 1);
    try {
        (void)import({path});
        FAIL();
    } catch (const Error& e) {
        EXPECT_THAT(e.mend(), HasSubstr("nsys export --type sqlite --output 'my run.sqlite' '" + path.string() + "'"));
    }
}

TEST_F(ImportFilesTest, OneFileIsARunWithTheFilesName)
{
    const Trace trace = import({put("train.json.gz", gzipped(test::kinetoJson()))});
    EXPECT_THAT(modesOf(trace), ElementsAre("train"));
    EXPECT_EQ(trace.runs[0].origin, Origin::Imported);
    EXPECT_EQ(trace.runs[0].tool, "PyTorch profiler");
    EXPECT_EQ(trace.timeRange().startNs, 0) << "times begin with the first event";
    EXPECT_EQ(trace.meta.at("start_wall_ns"),
              std::to_string(test::kKinetoBaseNs + test::makeProfiledLoop().ranges[0].startNs));
    EXPECT_EQ(trace.devices.at(0).name, "NVIDIA H100 80GB HBM3");
}

TEST_F(ImportFilesTest, GzipOfSeveralMembersAndOneThatEndsEarly)
{
    const std::string json = test::kinetoJson();
    const std::size_t slices = import({put("a.json", json)}).sliceCount();
    const std::string halves = gzipped(json.substr(0, 5000)) + gzipped(json.substr(5000));
    EXPECT_EQ(import({put("b.json.gz", halves)}).sliceCount(), slices);
    const std::string packed = gzipped(json);
    const Trace cut = import({put("c.json.gz", packed.substr(0, packed.size() * 2 / 3))});
    EXPECT_GT(cut.sliceCount(), 0U);
    EXPECT_LT(cut.sliceCount(), slices);
    EXPECT_FALSE(cut.runs[0].complete);
    EXPECT_THAT(cut.runs[0].note, HasSubstr("gzip stream ends early"));
}

TEST_F(ImportFilesTest, RanksOfAFolderComeInTheirOrderOnOneClock)
{
    for (const int rank : {2, 0, 1}) {
        KinetoFile file{.rank = rank, .pid = 100 + static_cast<std::uint32_t>(rank)};
        file.loop.startNs += rank * 1'000'000;
        put("ranks/sub/r" + std::to_string(rank) + ".json", test::kinetoJson(file));
    }
    put("ranks/notes.txt", "these are the ranks of a job that ran on Monday");
    put("ranks/._r0.json", "x");
    const Trace trace = import({m_folder / "ranks"});
    EXPECT_THAT(modesOf(trace), ElementsAre("rank 0", "rank 1", "rank 2"));
    EXPECT_EQ(trace.runs[1].startNs - trace.runs[0].startNs, 1'000'000);
    EXPECT_EQ(trace.runs[2].startNs - trace.runs[0].startNs, 2'000'000);
    EXPECT_THAT(skippedIn(trace), ElementsAre(HasSubstr("notes.txt is plain text")));
    const std::size_t names = trace.names.size();
    EXPECT_EQ(names, import({m_folder / "ranks" / "sub" / "r0.json"}).names.size()) << "names stand once";
}

TEST_F(ImportFilesTest, AnArchiveIsReadWithoutUnpacking)
{
    const auto rank = [](int r) { return test::kinetoJson({.pid = 100 + static_cast<std::uint32_t>(r)}); };
    const auto path = put("job.tar.gz", gzipped(tarOf({{"job/._worker1.json", "AppleDouble"},
                                                       {"job/worker1_step.pt.trace.json", rank(1)},
                                                       {"job/worker0_step.pt.trace.json.gz", gzipped(rank(0))},
                                                       {"job/README", "how this was recorded, in words"}})));
    const Trace trace = import({path});
    EXPECT_THAT(modesOf(trace), ElementsAre("rank 0", "rank 1"));
    EXPECT_EQ(skippedIn(trace).size(), 2U);
}

TEST_F(ImportFilesTest, AFolderWithoutATraceIsAnError)
{
    put("empty/notes.txt", "nothing but words in here, really");
    EXPECT_THROW((void)import({m_folder / "empty"}), Error);
}

TEST(RanksTest, ARunIsNamedAsItsFileWithoutTheFormatsEndings)
{
    EXPECT_EQ(runNameOf("step_12.1694128.pt.trace.json.gz"), "step_12.1694128");
    EXPECT_EQ(runNameOf("h100_Qwen1.5-0.5B.json.tmp"), "h100_Qwen1.5-0.5B");
    EXPECT_EQ(runNameOf(".json"), ".json");
}

TEST(RanksTest, AFilesNameTellsItsRank)
{
    EXPECT_EQ(rankInName("rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"), 34);
    EXPECT_EQ(rankInName("worker3_step_12.1694128201557.pt.trace.json"), 3);
    EXPECT_EQ(rankInName("rank0_trace.json"), 0);
    EXPECT_EQ(rankInName("mtia_Rank_7.json"), 7);
    EXPECT_EQ(rankInName("franking.json"), -1);
    EXPECT_EQ(rankInName("trace.json"), -1);
}

ImportedRank rankWith(std::int32_t rank, std::int64_t epochNs, std::int64_t offBy, std::int64_t jitterNs)
{
    ImportedRank made;
    made.rank = rank;
    made.epochWallNs = epochNs;
    Track track;
    track.slices.startNs.push_back(0);
    track.slices.durNs.push_back(10);
    made.trace.tracks.push_back(track);
    for (int i = 0; i < 20; ++i)
        made.collectives.push_back({"allreduce#" + std::to_string(i), i * 1'000'000 + offBy + (i % 3) * jitterNs});
    return made;
}

constexpr std::int64_t kEpoch = 1'700'000'000'000'000'000;

TEST(RanksTest, ClocksAreAlignedByWallTimeAndThenByWhatEndsTogether)
{
    // The second host's clock is 3 ms ahead: it writes its collectives 3 ms later than they were.
    const ClockAlignment clocks =
        alignClocks({rankWith(0, kEpoch, 0, 0), rankWith(1, kEpoch + 500, -500 + 3'000'000, 1000)});
    EXPECT_EQ(clocks.shiftNs[0] - clocks.shiftNs[1], 3'000'000 - 500 + 1000);
    EXPECT_EQ(std::min(clocks.shiftNs[0], clocks.shiftNs[1]), 0) << "the first event is time 0";
    EXPECT_EQ(clocks.diagnostics.at(0).name, "clocks_corrected");
}

TEST(RanksTest, ASpreadAsLargeAsTheDifferenceCorrectsNothing)
{
    const ClockAlignment clocks = alignClocks({rankWith(0, kEpoch, 0, 0), rankWith(1, kEpoch, 40'000, 90'000)});
    EXPECT_THAT(clocks.shiftNs, ElementsAre(0, 0));
    EXPECT_TRUE(clocks.diagnostics.empty());
}

TEST(RanksTest, WithoutACommonClockItSaysSo)
{
    const ClockAlignment clocks = alignClocks({rankWith(0, 0, 0, 0), rankWith(1, kEpoch, 0, 0)});
    EXPECT_EQ(clocks.epochWallNs, 0);
    EXPECT_EQ(clocks.diagnostics.at(0).name, "clocks_not_aligned");
}

}  // namespace
}  // namespace fp8scope::import

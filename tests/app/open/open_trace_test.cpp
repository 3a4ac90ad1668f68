// SPDX-License-Identifier: Apache-2.0
#include "app/open/open_trace.h"

#include "collector/trace/error.h"
#include "collector/trace/trace_writer.h"
#include "tests/support/kineto_json.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace fp8scope::open {
namespace {

class OpenTraceTest : public testing::Test {
protected:
    std::filesystem::path put(const char* name, const std::string& content)
    {
        std::ofstream(m_folder / name, std::ios::binary) << content;
        return m_folder / name;
    }
    test::TemporaryFolder m_folder;
};

Role roleOf(const Trace& trace, std::string_view part)
{
    const auto name = std::find_if(trace.names.begin(), trace.names.end(), [&](const Name& n) {
        return n.kind == NameKind::Kernel && n.text.find(part) != std::string::npos;
    });
    return name == trace.names.end() ? Role::Other : name->role;
}

TEST_F(OpenTraceTest, AFileOfAnotherToolComesWithRolesAndSteps)
{
    const Trace trace = openTrace(put("train.json", test::kinetoJson()));
    EXPECT_EQ(roleOf(trace, "nvjet"), Role::Gemm);
    EXPECT_EQ(roleOf(trace, "nccl"), Role::Comm);
    EXPECT_EQ(trace.steps.size(), 3U);
    EXPECT_EQ(trace.runs.at(0).origin, Origin::Imported);
}

TEST_F(OpenTraceTest, AUsersRulesComeFirst)
{
    OpenOptions options;
    options.rules = {put("rules.toml", "[[rule]]\nid = \"mine\"\npattern = 'nccl'\nrole = \"optimizer\"\n")};
    EXPECT_EQ(roleOf(openTrace(put("train.json", test::kinetoJson()), options), "nccl"), Role::Optimizer);
    saveTrace(openTrace(m_folder / "train.json"), m_folder / "train.fp8trace");
    EXPECT_EQ(roleOf(openTrace(m_folder / "train.fp8trace"), "nccl"), Role::Comm);
    EXPECT_EQ(roleOf(openTrace(m_folder / "train.fp8trace", options), "nccl"), Role::Optimizer) << "once imported, too";
    options.rules = {m_folder / "missing.toml"};
    EXPECT_THROW((void)openTrace(m_folder / "train.json", options), Error);
}

TEST_F(OpenTraceTest, OurOwnTraceIsLoadedWhateverItIsCalled)
{
    const Trace trace = test::TraceBuilder().run("bf16").track("q").slice(0, 5, "k", Role::Gemm).build();
    saveTrace(trace, m_folder / "trace.bin");
    EXPECT_EQ(openTrace(m_folder / "trace.bin").runs.at(0).mode, "bf16");
}

TEST_F(OpenTraceTest, SeveralFilesAreTheRanksOfOneJob)
{
    const std::filesystem::path files[] = {put("a.json", test::kinetoJson({.rank = 1})),
                                           put("b.json", test::kinetoJson({.rank = 0}))};
    const Trace trace = openTrace(files);
    ASSERT_EQ(trace.runs.size(), 2U);
    EXPECT_EQ(trace.runs[0].mode, "rank 0");
    EXPECT_EQ(trace.steps.size(), 6U);
}

TEST_F(OpenTraceTest, CancellingIsTheSameForEveryKindOfFile)
{
    std::stop_source stop;
    stop.request_stop();
    OpenOptions options;
    options.stop = stop.get_token();
    EXPECT_THROW((void)openTrace(put("train.json", test::kinetoJson()), options), LoadCancelled);
}

TEST_F(OpenTraceTest, DamageOfOurOwnFilesIsExplainedAsSuch)
{
    try {
        (void)openTrace(put("cut.fp8trace", "hello"));
        FAIL();
    } catch (const Error& e) {
        EXPECT_THAT(e.what(), testing::HasSubstr("cut.fp8trace"));
    }
}

}  // namespace
}  // namespace fp8scope::open

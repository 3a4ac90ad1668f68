// SPDX-License-Identifier: Apache-2.0
// Every preset of resources/presets: it reads, says where it is from, plans in each of its modes at its size, and its
// arena is within 5% of what lifetimes allow.
#include "engine/plan/memory_planner.h"
#include "engine/plan/step_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace fp8scope::plan {
namespace {

std::string textOf(const std::filesystem::path& path)
{
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::filesystem::path> presetFiles()
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(FP8SCOPE_SOURCE_DIR) / "resources/presets"))
        files.push_back(entry.path());
    return files;
}

TEST(PresetsTest, AreThePublicCasesEachWithAVersionForCpus)
{
    std::set<std::string> names;
    for (const auto& file : presetFiles())
        names.insert(file.stem().string());
    std::set<std::string> expected{"demo"};
    for (const char* name : {"torchao-readme", "torchao-small", "torchao-large", "wide-8192x16384", "llama3-8b-ffn",
                             "tiny-launch-bound", "deepseek-expert-2048"}) {
        expected.insert(name);
        expected.insert(std::string(name) + "-cpu");
    }
    EXPECT_EQ(names, expected);
}

TEST(PresetsTest, PlanInEveryModeWithinFivePercentOfTheLeastMemory)
{
    for (const auto& file : presetFiles()) {
        SCOPED_TRACE(file.filename().string());
        const std::string text = textOf(file);
        EXPECT_TRUE(text.starts_with("# "));
        const MlpConfig config = parseConfig(text, file.string());
        EXPECT_EQ(config.name, file.stem().string());
        EXPECT_THAT(config.modes, testing::ElementsAre("bf16", "fp8", "fp8-fused"));
        for (const std::string& mode : config.modes) {
            const StepPlan plan = buildPlan(config, mode);
            EXPECT_LE(static_cast<double>(plan.arenaBytes), 1.05 * static_cast<double>(lifetimeLowerBound(plan)))
                << mode;
        }
        EXPECT_EQ(config.alwaysDgrad, config.name.starts_with("torchao"));
    }
}

}  // namespace
}  // namespace fp8scope::plan

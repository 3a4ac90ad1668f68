// SPDX-License-Identifier: Apache-2.0
// The modes of an ablation: legal ones only, each switch once in the chain and once alone.
#include "engine/plan/ablation.h"

#include "collector/trace/error.h"
#include "engine/plan/step_plan.h"

#include <gmock/gmock.h>

#include <set>

namespace fp8scope::plan {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

MlpConfig smallConfig()
{
    MlpConfig config;
    config.widths = {64, 96, 32};
    config.batch = 32;
    return config;
}

TEST(AblationModesTest, BeginWithTheBaselineAndPlainFp8)
{
    const AblationModes ablation = ablationModes(smallConfig());
    ASSERT_GE(ablation.modes.size(), 4U);
    EXPECT_EQ(ablation.modes[0], "bf16");
    EXPECT_EQ(ablation.modes[1], "fp8");
    EXPECT_EQ(ablation.modes[2], "fp8+bias_epilogue");
    EXPECT_EQ(ablation.modes[3], "fp8+bias_epilogue+cast_chain");
    EXPECT_THAT(ablation.modes, Contains("fp8-fused"));
}

TEST(AblationModesTest, AreAllLegalAndDifferent)
{
    const AblationModes ablation = ablationModes(smallConfig());
    for (const std::string& mode : ablation.modes)
        EXPECT_NO_THROW((void)buildPlan(smallConfig(), mode)) << mode;
    EXPECT_EQ(std::set<std::string>(ablation.modes.begin(), ablation.modes.end()).size(), ablation.modes.size());
}

TEST(AblationModesTest, AFusionAloneComesWithNoMoreThanItNeeds)
{
    const AblationModes ablation = ablationModes(smallConfig());
    EXPECT_THAT(ablation.modes, Contains("fp8+cast_chain"));
    EXPECT_THAT(ablation.modes, Contains("fp8+cast_chain+cast_transpose"));
    EXPECT_THAT(ablation.modes, Not(Contains("fp8+cast_transpose"))) << "it needs cast_chain";
}

TEST(AblationModesTest, WhatChangesNothingIsSkippedWithTheReason)
{
    MlpConfig config = smallConfig();
    config.bias = false;
    const AblationModes ablation = ablationModes(config);
    EXPECT_THAT(ablation.skipped, Contains(Pair("bias_epilogue", "changes no op of this model's step here")));
    EXPECT_THAT(ablation.modes, Each(Not(HasSubstr("bias_epilogue"))));
    EXPECT_THAT(ablation.modes, Contains("fp8-fused"));
}

TEST(AblationModesTest, FusionsSetByHandAreRefused)
{
    MlpConfig config = smallConfig();
    config.fusionOverrides = {{"act_cast", false}};
    try {
        (void)ablationModes(config);
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()), "fusion.act_cast: an ablation switches the fusions itself; leave --fusion "
                                             "and the keys of [fusion] out");
    }
}

TEST(AblationModesTest, ReadAsModesOfAConfiguration)
{
    MlpConfig config = smallConfig();
    config.modes = ablationModes(config).modes;
    EXPECT_EQ(parseConfig(toToml(config), "test").modes, config.modes);
}

}  // namespace
}  // namespace fp8scope::plan

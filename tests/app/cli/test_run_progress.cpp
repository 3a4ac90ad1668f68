// SPDX-License-Identifier: Apache-2.0
#include "app/cli/run_progress.h"

#include "app/cli/output.h"

#include <gtest/gtest.h>

namespace fp8scope::cli {
namespace {

session::RunProgress halfway()
{
    session::RunProgress p;
    p.mode = "fp8";
    p.modeCount = 3;
    p.step = 10;
    p.steps = 20;
    p.loss = 0.0412;
    p.stepNs = 63'100'000;
    p.secondsLeft = 8.2;
    return p;
}

TEST(RunProgressTest, LineShowsStepLossRateAndTimeLeft)
{
    EXPECT_EQ(progressLine(halfway(), 100),
              "fp8       [###############---------------]  10/20  loss 0.0412  63.1 ms a step  8 s left");
}

TEST(RunProgressTest, ANarrowTerminalLosesTheBarNotTheFigures)
{
    EXPECT_EQ(progressLine(halfway(), 60), "fp8       10/20  loss 0.0412  63.1 ms a step  8 s left");
}

TEST(RunProgressTest, RepeatsAreCountedAndLongModesShortened)
{
    session::RunProgress p = halfway();
    p.mode = "fp8+bias_epilogue+cast_chain+cast_transpose";
    p.repeat = 1;
    p.repeats = 3;
    EXPECT_EQ(progressLine(p, 70), "fp8+…+cast_transpose 2/3 10/20  loss 0.0412  63.1 ms a step  8 s left");
}

TEST(RunProgressTest, BeforeTheFirstStepItSaysPreparing)
{
    session::RunProgress p = halfway();
    p.step = 0;
    EXPECT_NE(progressLine(p, 80).find("preparing"), std::string::npos);
}

}  // namespace
}  // namespace fp8scope::cli

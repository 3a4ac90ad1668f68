// SPDX-License-Identifier: Apache-2.0
#include "app/session/time_left.h"

#include <gtest/gtest.h>

namespace fp8scope::session {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(TimeLeftTest, IsUnknownUntilASecondStep)
{
    TimeLeft left({1, 1}, 10);
    EXPECT_EQ(left.seconds(), -1);
    left.stepDone(0, 5 * kSecond);
    EXPECT_EQ(left.seconds(), -1) << "a first step pays for warming up";
    left.stepDone(0, 1 * kSecond);
    EXPECT_DOUBLE_EQ(left.seconds(), 8 + 10);
}

TEST(TimeLeftTest, ModesToComeCostByTheirWeight)
{
    TimeLeft left({1, 3}, 10);
    left.stepDone(0, 2 * kSecond);
    left.stepDone(0, 2 * kSecond);
    EXPECT_DOUBLE_EQ(left.seconds(), 8 * 2 + 10 * 6);
}

TEST(TimeLeftTest, AModeThatEndedEarlyTakesNoMore)
{
    TimeLeft left({1, 1}, 10);
    left.stepDone(0, kSecond);
    left.stepDone(0, kSecond);
    left.modeEnded(0);
    EXPECT_DOUBLE_EQ(left.seconds(), 10);
    for (int step = 0; step < 10; ++step)
        left.stepDone(1, 2 * kSecond);
    left.modeEnded(1);
    EXPECT_DOUBLE_EQ(left.seconds(), 0);
}

}  // namespace
}  // namespace fp8scope::session

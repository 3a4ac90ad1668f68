// SPDX-License-Identifier: Apache-2.0
#include "app/session/schedule.h"

#include <gmock/gmock.h>

namespace fp8scope::session {
namespace {

using ::testing::ElementsAre;
using At = ScheduledRun;

TEST(ScheduleTest, DirectionsAlternate)
{
    EXPECT_THAT(schedule(3, 3),
                ElementsAre(At{0, 0}, At{1, 0}, At{2, 0}, At{2, 1}, At{1, 1}, At{0, 1}, At{0, 2}, At{1, 2}, At{2, 2}));
}

TEST(ScheduleTest, WithoutRepeatsItIsTheModesInOrder) { EXPECT_THAT(schedule(2, 1), ElementsAre(At{0, 0}, At{1, 0})); }

}  // namespace
}  // namespace fp8scope::session

// SPDX-License-Identifier: Apache-2.0
#include "collector/import/decimal_time.h"

#include <gtest/gtest.h>

namespace fp8scope::import {
namespace {

TEST(DecimalTimeTest, KeepsTheLastPrintedDigit)
{
    EXPECT_EQ(nsFromMicroseconds("1712195495519689.047"), 1712195495519689047);
    EXPECT_EQ(nsFromMicroseconds("1661938466265032"), 1661938466265032000);
    EXPECT_EQ(nsFromMicroseconds("0.001"), 1);
    EXPECT_EQ(nsFromMicroseconds("12.5"), 12500);
    EXPECT_EQ(nsFromMicroseconds("-3"), -3000);
    EXPECT_EQ(nsFromMicroseconds("\"7.25\""), 7250) << "some writers quote numbers";
}

TEST(DecimalTimeTest, CutsWhatIsBelowANanosecond)
{
    EXPECT_EQ(nsFromMicroseconds("0.0019"), 1);
    EXPECT_EQ(nsFromMicroseconds("5.123456789012345678901234567890"), 5123);
}

TEST(DecimalTimeTest, ReadsExponentsAsPythonPrintsThem)
{
    EXPECT_EQ(nsFromMicroseconds("1.661938466265032e+15"), 1661938466265032000);
    EXPECT_EQ(nsFromMicroseconds("5e-1"), 500);
    EXPECT_EQ(nsFromMicroseconds("1e-300"), 0);
}

TEST(DecimalTimeTest, RefusesWhatIsNoTime)
{
    for (const char* text : {"", "-", ".", "abc", "1x", "1e", "1e999999", "99999999999999999999", "1e30", "--1", "\"\""})
        EXPECT_EQ(nsFromMicroseconds(text), std::nullopt) << text;
}

}  // namespace
}  // namespace fp8scope::import

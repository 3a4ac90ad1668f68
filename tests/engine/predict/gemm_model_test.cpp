// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/device.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fp8scope::predict {
namespace {

/// A device whose GEMMs cost their arithmetic and nothing else: 100 SMs of 1 TFLOP/s.
GemmMachine plainMachine()
{
    return {.sms = 100, .peakFlops = 100e12, .bandwidth = 1e18, .l2Bytes = 1e12, .operandBytes = 2};
}
GemmConstants plainConstants()
{
    return {.floorUs = 0.001,
            .peakFraction = 1,
            .sustained = 1,
            .steady = 1,
            .smGBs = 1e9,
            .l2GBs = 1e12,
            .dramFraction = 1,
            .tileUs = 1e-9,
            .tileAreaUs = 1e-9,
            .kStepUs = 1e-9,
            .splitUs = 1e6,
            .tiles = "simple",
            .maxSplitK = 1};
}

TEST(GemmModelTest, AFullWaveTakesItsArithmeticAtPeak)
{
    // 10 x 10 tiles of 128 x 128, one an SM: 2 * 1280 * 1280 * 4096 FLOP at 100 TFLOP/s.
    const GemmTime time = predictGemm(plainMachine(), plainConstants(), {1280, 1280, 4096});
    EXPECT_NEAR(time.us, 134.2, 0.5);
    EXPECT_EQ(time.waves, 1);
    EXPECT_EQ(time.bound, Bound::Compute);
}

TEST(GemmModelTest, OneTileMoreThanTheSmsCostsAPartlyEmptyWave)
{
    GemmConstants constants = plainConstants();
    const double full = predictGemm(plainMachine(), constants, {1280, 1280, 4096}).us;
    const double more = predictGemm(plainMachine(), constants, {1281, 1280, 4096}).us;
    EXPECT_GT(more, 1.2 * full);  // smaller tiles soften it, but 0.08% more work is not 0.08% more time
}

TEST(GemmModelTest, SplitKFillsTheSmsOfASmallGrid)
{
    GemmConstants constants = plainConstants();
    const GemmTime whole = predictGemm(plainMachine(), constants, {128, 128, 65536});
    constants.splitUs = 1;
    constants.maxSplitK = 32;
    const GemmTime split = predictGemm(plainMachine(), constants, {128, 128, 65536});
    EXPECT_GT(split.splitK, 1);
    EXPECT_LT(split.us, whole.us / 4);
}

TEST(GemmModelTest, ASkinnyGemmIsBoundByMemory)
{
    GemmMachine machine = plainMachine();
    machine.bandwidth = 0.5e12;
    machine.l2Bytes = 1;  // keeps nothing
    const GemmTime time = predictGemm(machine, plainConstants(), {128, 8192, 8192});
    EXPECT_EQ(time.bound, Bound::Memory);
    EXPECT_NEAR(time.memoryUs, (128.0 * 8192 + 8192.0 * 8192 + 128.0 * 8192) * 2 / 0.5e6, 5);
}

TEST(GemmModelTest, LongGemmsLoseClockAndSteadyRunsAreNeverABurst)
{
    GemmConstants constants = plainConstants();
    constants.sustained = 0.8;
    constants.steady = 0.8;
    constants.throttleUs = 1000;
    const GemmShape small{1280, 1280, 512}, large{12800, 12800, 12800};
    const auto ratio = [&](GemmShape shape) {
        return predictGemm(plainMachine(), constants, shape, Clock::Steady).us /
               predictGemm(plainMachine(), constants, shape, Clock::Burst).us;
    };
    EXPECT_NEAR(ratio(small), 1.25, 0.02);
    EXPECT_NEAR(ratio(large), 1.0, 0.02);
}

TEST(GemmModelTest, NeverFasterThanThePeakOnAnyDevice)
{
    const DeviceTable table = builtInDevices();
    for (const DeviceModel& device : table.devices()) {
        for (const GemmKind kind : {GemmKind::Bf16, GemmKind::Tensorwise, GemmKind::Blockwise, GemmKind::Mxfp8}) {
            if (!device.supports(kind))
                continue;
            for (const GemmShape shape : {GemmShape{128, 128, 128}, {4096, 4096, 4096}, {16384, 16384, 16384}}) {
                const double us = predictGemm(device.machine(kind), device.constantsOf(kind), shape).us;
                EXPECT_LT(shape.flops() / us * 1e6, 1.02 * device.machine(kind).peakFlops)
                    << device.spec.id << ' ' << toString(kind) << ' ' << shape.m;
                EXPECT_GT(us, 0.5) << device.spec.id;
            }
        }
    }
}

}  // namespace
}  // namespace fp8scope::predict

// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/error.h"
#include "engine/predict/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8scope::predict {
namespace {

using testing::HasSubstr;

template <typename Action>
std::string errorOf(Action&& action)
{
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

std::string errorOfToml(std::string_view toml)
{
    return errorOf([&] { builtInDevices().add(toml, "mine.toml"); });
}

TEST(DeviceTableTest, HoldsTheDevicesThatPeopleRent)
{
    const DeviceTable table = builtInDevices();
    for (const char* id :
         {"a100-sxm", "a100-pcie", "l40s", "rtx-4090", "h100-sxm", "h100-pcie", "h100-nvl", "h800", "h20", "h200-sxm",
          "h200-nvl", "b200-sxm", "b300-sxm", "gb200", "gb300", "rtx-5090", "rtx-pro-6000"}) {
        const DeviceModel& device = table.find(id);
        EXPECT_TRUE(device.supports(GemmKind::Bf16)) << id;
        EXPECT_EQ(device.supports(GemmKind::Tensorwise), device.spec.computeCapability >= 89) << id;
        EXPECT_FALSE(device.provenance.empty()) << id;
        EXPECT_FALSE(device.spec.source.empty()) << id;
    }
}

TEST(DeviceTableTest, SaysWhichConstantsAreAnotherDevices)
{
    const DeviceTable table = builtInDevices();
    EXPECT_FALSE(table.find("h100-sxm").extrapolated);
    EXPECT_TRUE(table.find("h100-pcie").extrapolated);
    EXPECT_THAT(table.find("h100-pcie").provenance, HasSubstr("H100 SXM"));
    EXPECT_TRUE(table.find("h100-pcie").errors.empty());
}

TEST(DeviceTableTest, NamesTheNearestDevice)
{
    EXPECT_THAT(errorOf([] { (void)builtInDevices().find("h100-sxn"); }), HasSubstr("did you mean 'h100-sxm'"));
}

TEST(DeviceTableTest, ADeviceWithoutFp8SaysSo)
{
    const DeviceTable table = builtInDevices();
    EXPECT_THAT(errorOf([&] { (void)table.find("a100-sxm").constantsOf(GemmKind::Tensorwise); }),
                HasSubstr("has no tensorwise GEMMs"));
}

TEST(DeviceTableTest, AUsersDeviceTakesTheConstantsThatItNames)
{
    DeviceTable table = builtInDevices();
    table.add("[[device]]\nid = \"mine\"\ncompute_capability = 90\nsms = 66\nboost_mhz = 1830\nbf16_tflops = 494.5\n"
              "fp8_tflops = 989\nmemory_gbs = 1675\nl2_mb = 50\nconstants_from = \"h100-sxm\"\n",
              "mine.toml");
    table.resolve();
    const GemmShape shape{8192, 8192, 8192};
    const auto us = [&](const char* id) {
        const DeviceModel& device = table.find(id);
        return predictGemm(device.machine(GemmKind::Bf16), device.constantsOf(GemmKind::Bf16), shape).us;
    };
    EXPECT_NEAR(us("mine") / us("h100-sxm"), 2, 0.25);  // half of everything
}

TEST(DeviceTableTest, NamesFileLineAndKeyOfAMistake)
{
    EXPECT_THAT(errorOfToml("[[device]]\nid = \"x\"\nsmz = 3\n"),
                HasSubstr("mine.toml:3: unknown key 'smz'; did you mean 'sms'"));
    EXPECT_THAT(errorOfToml("[[device]]\nid = \"x\"\nsms = \"many\"\n"),
                HasSubstr("mine.toml:3: 'sms' must be a number"));
    EXPECT_THAT(errorOfToml("[[device]]\nid = \"x\"\n"), HasSubstr("a device needs id, sms"));
    EXPECT_THAT(errorOfToml("[[device\n"), HasSubstr("mine.toml:1"));
    EXPECT_THAT(errorOfToml("[[fit]]\ndevice = \"nothing\"\n"), HasSubstr("'nothing', which is no device"));
    EXPECT_THAT(errorOfToml("[[fit]]\ndevice = \"h100-sxm\"\n[fit.gemm.bf16]\nfloor_u = 2\n"),
                HasSubstr("did you mean 'floor_us'"));
    EXPECT_THAT(errorOfToml("[[fit]]\ndevice = \"h100-sxm\"\n[fit.gemm.bf16]\nfloor_us = 0\n"),
                HasSubstr("must be above 0"));
    EXPECT_THAT(errorOfToml("[[fit]]\ndevice = \"h100-sxm\"\n[fit.gemm.bf16]\ntiles = \"round\"\n"),
                HasSubstr("no menu of tiles"));
}

TEST(DeviceTableTest, WritesWhatItReads)
{
    const DeviceTable table = builtInDevices();
    DeviceTable copy;
    copy.add(specToToml(table.find("h200-sxm").spec), "spec");
    copy.add(fitsToToml(table.find("h200-sxm")), "fits");
    const DeviceModel &before = table.find("h200-sxm"), &after = copy.find("h200-sxm");
    EXPECT_EQ(after.spec.bandwidth, before.spec.bandwidth);
    EXPECT_EQ(after.errors.size(), before.errors.size());
    const GemmShape shape{4096, 4096, 4096};
    EXPECT_DOUBLE_EQ(
        predictGemm(after.machine(GemmKind::Blockwise), after.constantsOf(GemmKind::Blockwise), shape).us,
        predictGemm(before.machine(GemmKind::Blockwise), before.constantsOf(GemmKind::Blockwise), shape).us);
}

}  // namespace
}  // namespace fp8scope::predict

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/doors.h"

#include "tests/app/gui/gui_fixture.h"

#include <gtest/gtest.h>

namespace fp8scope::gui {
namespace {

using test::loadedOf;
using test::smallTrace;

std::string nameOf(const LoadedTrace& loaded, SliceRef ref)
{
    return loaded.trace.name(loaded.trace.track(ref.track).slices.name[ref.index]).text;
}

TEST(DoorsTest, AFamilyLeadsToItsKernelInThatRun)
{
    const auto loaded = loadedOf(smallTrace());
    const Door door = doorToFamily(*loaded, RunId(1), Family::Quantization);
    ASSERT_TRUE(door.selection.slice.valid());
    EXPECT_EQ(loaded->trace.track(door.selection.slice.track).run, RunId(1));
    EXPECT_NE(nameOf(*loaded, door.selection.slice).find("cast_x"), std::string::npos);
    EXPECT_EQ(door.selection.family, Family::Quantization);
    EXPECT_TRUE(doorToFamily(*loaded, RunId(0), Family::Quantization).empty()) << "bf16 quantizes nothing";
}

TEST(DoorsTest, IdleLeadsToTheLongestGap)
{
    const auto loaded = loadedOf(smallTrace());
    const Door door = doorToFamily(*loaded, RunId(1), Family::Idle);
    ASSERT_TRUE(door.range.has_value());
    EXPECT_EQ(door.range->endNs - door.range->startNs, 5'000);
}

TEST(DoorsTest, AStepLeadsToARangeOfItsLength)
{
    const auto loaded = loadedOf(smallTrace());
    const Door door = doorToTypicalStep(*loaded, RunId(0));
    ASSERT_TRUE(door.range.has_value());
    EXPECT_EQ(door.range->endNs - door.range->startNs, 80'000);
    EXPECT_EQ(door.selection.run, RunId(0));
}

TEST(DoorsTest, ALayerLeadsToItsLongestSlice)
{
    const auto loaded = loadedOf(smallTrace());
    for (std::uint32_t l = 0; l < loaded->trace.layers.size(); ++l) {
        const Layer& layer = loaded->trace.layers[l];
        const Door door = doorToLayer(*loaded, layer.run, LayerId(l));
        ASSERT_TRUE(door.selection.slice.valid());
        EXPECT_EQ(nameOf(*loaded, door.selection.slice), layer.name + ".fwd.gemm");
        EXPECT_EQ(door.selection.layer, LayerId(l));
    }
}

TEST(DoorsTest, BarsOfTheAccountNameTheirFamily)
{
    EXPECT_EQ(familyOfBar("quantization"), Family::Quantization);
    EXPECT_EQ(familyOfBar("ideal fp8 GEMMs"), Family::GemmFp8);
    EXPECT_EQ(familyOfBar("layers left in 16 bit"), Family::Gemm16);
    EXPECT_EQ(familyOfBar("bias gradient"), Family::Bias);
    EXPECT_EQ(familyOfBar("launch gaps"), Family::Idle);
    EXPECT_EQ(familyOfBar("rest"), std::nullopt);
}

TEST(DoorsTest, EveryFigureAndFindingOfARealOverviewLeadsSomewhere)
{
    const auto loaded = loadedOf(smallTrace());
    for (const analysis::Figure& figure : loaded->overview.figures)
        EXPECT_FALSE(doorToFigure(*loaded, figure).empty()) << figure.label;
    for (const analysis::Finding& finding : loaded->overview.findings)
        EXPECT_FALSE(doorToFinding(*loaded, finding).empty()) << finding.title;
    ASSERT_FALSE(loaded->overview.figures.empty());
}

TEST(DoorsTest, OpeningSelectsAndAsksForTheTimeline)
{
    Context context;
    context.setLoaded(loadedOf(smallTrace()));
    int asked = 0;
    QObject::connect(&context, &Context::pageRequested, [&](Page page, bool reveal) {
        EXPECT_EQ(page, Page::Timeline);
        EXPECT_TRUE(reveal);
        ++asked;
    });
    open(context, {});
    EXPECT_EQ(asked, 0) << "an empty door goes nowhere";
    const Door door = doorToFamily(*context.loaded(), RunId(1), Family::Idle);
    open(context, door);
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(context.range(), door.range);
    EXPECT_EQ(context.selection(), door.selection);
}

}  // namespace
}  // namespace fp8scope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/tables/filter_proxy.h"
#include "app/gui/tables/kernels_model.h"
#include "app/gui/tables/layers_model.h"
#include "tests/app/gui/gui_fixture.h"

#include <QAbstractItemModelTester>

#include <gtest/gtest.h>

namespace fp8scope::gui {
namespace {

using test::loadedOf;
using test::printed;
using test::smallTrace;
using namespace Qt::StringLiterals;

constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;
const std::vector<RunId> kAllRuns{RunId(0), RunId(1), RunId(2)};

TEST(LayersModelTest, PrintsRunsSideBySide)
{
    LayersModel model;
    const QAbstractItemModelTester tester(&model, kFatal);
    model.setTrace(loadedOf(smallTrace()), kAllRuns);
    EXPECT_EQ(printed(model).toStdString(),
              "Layer | In → out | bf16 In | bf16 Step | bf16 GEMMs | bf16 Quantize | bf16 Rest | "
              "fp8 In | fp8 Step | fp8 GEMMs | fp8 Quantize | fp8 Rest | fp8 Change | "
              "fp8-fused In | fp8-fused Step | fp8-fused GEMMs | fp8-fused Quantize | fp8-fused Rest | "
              "fp8-fused Change\n"
              "in | 128 → 128 | bf16 | 40.0 µs | 40.0 µs | – | – | fp8 | 30.0 µs | 20.0 µs | 10.0 µs | – | −25.0% | "
              "fp8 | 24.0 µs | 20.0 µs | 4.00 µs | – | −40.0%\n"
              "out | 128 → 128 | bf16 | 40.0 µs | 40.0 µs | – | – | fp8 | 30.0 µs | 20.0 µs | 10.0 µs | – | −25.0% | "
              "fp8 | 24.0 µs | 20.0 µs | 4.00 µs | – | −40.0%\n"
              "(no layer) |  |  | – | – | – | – |  | 5.00 µs | – | – | 5.00 µs | – |  | – | – | – | – | –");
}

TEST(LayersModelTest, ARowIsALayerInEachRun)
{
    const auto loaded = loadedOf(smallTrace());
    LayersModel model;
    model.setTrace(loaded, kAllRuns);
    for (int row = 0; row < 2; ++row) {
        for (const RunId run : kAllRuns) {
            const LayerId layer = model.layerAt(row, run);
            ASSERT_TRUE(layer.valid());
            EXPECT_EQ(loaded->trace.layer(layer).run, run);
            EXPECT_EQ(model.rowOf(layer), row);
        }
    }
    EXPECT_FALSE(model.layerAt(2, RunId(0)).valid());
    EXPECT_EQ(model.rowOf(LayerId::none()), -1);
}

TEST(LayersModelTest, ColumnsKnowTheirRun)
{
    LayersModel model;
    model.setTrace(loadedOf(smallTrace()), {RunId(0), RunId(2)});
    EXPECT_FALSE(model.runOfColumn(0).valid());
    EXPECT_FALSE(model.runOfColumn(1).valid());
    EXPECT_EQ(model.runOfColumn(2), RunId(0));
    EXPECT_EQ(model.runOfColumn(6), RunId(0));
    EXPECT_EQ(model.runOfColumn(7), RunId(2));
    EXPECT_EQ(model.runOfColumn(12), RunId(2));
    EXPECT_FALSE(model.runOfColumn(13).valid());
    EXPECT_EQ(model.columnCount(), 13);
}

TEST(KernelsModelTest, PrintsARowAKernelOfARun)
{
    KernelsModel model;
    const QAbstractItemModelTester tester(&model, kFatal);
    model.setTrace(loadedOf(smallTrace()), {RunId(2)});
    const QString text = printed(model);
    EXPECT_EQ(text.section(u'\n', 0, 0).toStdString(), "Run | Kernel | Family | Role | Calls | Exposed | Share | Busy "
                                                       "| Median | p95 | Min | Max | Arithmetic | Memory");
    EXPECT_EQ(model.rowCount(), 4);
    EXPECT_TRUE(
        text.contains(u"fp8-fused | in.fwd.gemm | GEMM fp8 | gemm | 1.0 | 20.0 \u00b5s | 41.7% | 20.0 \u00b5s"_s))
        << text.toStdString();
    EXPECT_TRUE(
        text.contains(u"fp8-fused | out.fwd.cast_x | Quantization | cast | 1.0 | 4.00 \u00b5s | 8.3% | 4.00 \u00b5s"_s))
        << text.toStdString();
}

TEST(KernelsModelTest, FindsTheRowOfASelectionInItsRun)
{
    const auto loaded = loadedOf(smallTrace());
    KernelsModel model;
    model.setTrace(loaded, kAllRuns);
    for (int row = 0; row < model.rowCount(); ++row) {
        const Selection selection{.run = model.at(row).run, .name = model.at(row).kernel->name};
        EXPECT_EQ(model.rowOf(selection), row);
    }
    EXPECT_EQ(model.rowOf({}), -1);
}

TEST(KernelsModelTest, WithoutATraceItIsEmptyAndKeepsItsColumns)
{
    KernelsModel model;
    model.setTrace(loadedOf(smallTrace()), kAllRuns);
    model.setTrace(nullptr, {});
    EXPECT_EQ(model.rowCount(), 0);
    EXPECT_EQ(model.columnCount(), 14);
}

class FilterProxyTest : public ::testing::Test {
protected:
    FilterProxyTest() : tester(&proxy, kFatal)
    {
        model.setTrace(loadedOf(smallTrace()), kAllRuns);
        proxy.setSourceModel(&model);
    }
    KernelsModel model;
    FilterProxy proxy;
    QAbstractItemModelTester tester;
};

TEST_F(FilterProxyTest, WordsMustAllBeThereInAnyColumn)
{
    EXPECT_EQ(proxy.rowCount(), 10);
    proxy.setFilterText(u"CAST fused"_s);
    EXPECT_EQ(proxy.rowCount(), 2);
    proxy.setFilterText(u"cast bf16"_s);
    EXPECT_EQ(proxy.rowCount(), 0);
    proxy.setFilterText({});
    EXPECT_EQ(proxy.rowCount(), 10);
}

TEST_F(FilterProxyTest, SlashesMakeARegularExpression)
{
    proxy.setFilterText(u"/^in\\.fwd\\.(gemm|cast_x)$/"_s);
    EXPECT_EQ(proxy.rowCount(), 5);
}

TEST_F(FilterProxyTest, AWrongExpressionShowsAllAndSaysWhy)
{
    proxy.setFilterText(u"/(/"_s);
    EXPECT_EQ(proxy.rowCount(), 10);
    EXPECT_FALSE(proxy.filterError().isEmpty());
    proxy.setFilterText(u"gemm"_s);
    EXPECT_TRUE(proxy.filterError().isEmpty());
}

TEST_F(FilterProxyTest, SortsByRawValuesNotByText)
{
    proxy.sort(KernelsModel::Exposed, Qt::DescendingOrder);  // as text, "4.00" would come before "40.0"
    QList<qint64> values;
    for (int row = 0; row < proxy.rowCount(); ++row)
        values.append(proxy.index(row, KernelsModel::Exposed).data(TableModel::SortRole).toLongLong());
    EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
    EXPECT_EQ(values.first(), 40'000);
    EXPECT_EQ(values.last(), 4'000);
}

}  // namespace
}  // namespace fp8scope::gui

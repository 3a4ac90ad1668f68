// SPDX-License-Identifier: GPL-3.0-or-later
// The PDF, asked by poppler's tools what is in it.
#include "app/gui/pdf/pdf_report.h"

#include "collector/trace/error.h"
#include "tests/app/gui/gui_fixture.h"

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>

#include <gtest/gtest.h>

namespace fp8scope::gui {
namespace {

using test::loadedOf;
using test::smallTrace;
using namespace Qt::StringLiterals;

QString outputOf(const QString& program, const QStringList& arguments)
{
    QProcess process;
    process.start(program, arguments);
    process.waitForFinished(-1);
    EXPECT_EQ(process.exitCode(), 0) << program.toStdString();
    return QString::fromUtf8(process.readAllStandardOutput());
}

class PdfReportTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        for (const QString& tool : {u"pdfinfo"_s, u"pdftotext"_s, u"pdfimages"_s})
            if (QStandardPaths::findExecutable(tool).isEmpty())
                GTEST_SKIP() << tool.toStdString() << " (poppler-utils) is not installed";
    }
    QString text() const { return outputOf(u"pdftotext"_s, {u"-layout"_s, path, u"-"_s}); }

    QTemporaryDir folder;
    QString path = folder.filePath(u"report.pdf"_s);
};

TEST_F(PdfReportTest, HasTitlePagesTextAndNoImages)
{
    const auto loaded = loadedOf(smallTrace());
    const report::Report report = reportOf(*loaded, u"2026-01-01"_s);
    const int pages = writePdf(report, path);
    const QString facts = outputOf(u"pdfinfo"_s, {path});
    EXPECT_TRUE(facts.contains(
        QRegularExpression(u"Title:\\s+"_s + QRegularExpression::escape(QString::fromStdString(report.title)))))
        << facts.toStdString();
    EXPECT_TRUE(facts.contains(QRegularExpression(u"Pages:\\s+%1\\n"_s.arg(pages)))) << facts.toStdString();
    EXPECT_TRUE(facts.contains(u"A4"_s)) << facts.toStdString();
    EXPECT_EQ(outputOf(u"pdfimages"_s, {u"-list"_s, path}).count(u'\n'), 2)
        << "only the table's two header lines: all is vectors";
    const QString words = text();
    for (const char* expected : {"bf16", "fp8-fused", "Quantization", "Test GPU", "in.fwd.gemm"})
        EXPECT_TRUE(words.contains(QLatin1StringView(expected))) << expected;
}

TEST_F(PdfReportTest, EveryPageCarriesItsNumberAndTheOrigin)
{
    const report::Report report = reportOf(*loadedOf(smallTrace()), u"2026-01-01"_s);
    const int pages = writePdf(report, path);
    const QStringList texts = text().split(u'\f', Qt::SkipEmptyParts);
    ASSERT_EQ(texts.size(), pages);
    for (int page = 0; page < pages; ++page) {
        EXPECT_TRUE(texts[page].contains(u"%1 of %2"_s.arg(page + 1).arg(pages))) << texts[page].toStdString();
        EXPECT_TRUE(texts[page].contains(QString::fromStdString(report.originLine))) << texts[page].toStdString();
    }
}

TEST_F(PdfReportTest, ALongTableBreaksOverPagesAndRepeatsItsHeader)
{
    report::Report report;
    report.title = "Long";
    report.originLine = "measured on nothing";
    report::Table table{.title = "Rows", .columns = {"Name of the row", "Figure"}, .numeric = {false, true}};
    constexpr int kRows = 150;
    for (int row = 0; row < kRows; ++row)
        table.rows.push_back({"row-" + std::to_string(row) + "-of-the-table", std::to_string(row * 7)});
    report.blocks.emplace_back(table);
    EXPECT_GE(writePdf(report, path), 3);
    const QString words = text();
    EXPECT_GE(words.count(u"Name of the row"_s), 3);
    for (int row = 0; row < kRows; ++row)
        EXPECT_EQ(words.count(u"row-%1-of-the-table"_s.arg(row)), 1) << row;
}

TEST_F(PdfReportTest, NamesThatAreTooLongAreElidedAndNumbersStayWhole)
{
    report::Report report;
    report.title = "Wide";
    report::Table table{.columns = {"Kernel", "A", "B", "C"}, .numeric = {false, true, true, true}};
    table.rows.push_back({std::string(4000, 'k'), "123.45 ms", "67.89 ms", "1.21 TFLOP/s"});
    report.blocks.emplace_back(table);
    writePdf(report, path);
    const QString words = text();
    for (const char* number : {"123.45 ms", "67.89 ms", "1.21 TFLOP/s"})
        EXPECT_TRUE(words.contains(QLatin1StringView(number))) << words.toStdString();
    EXPECT_TRUE(words.contains(u'\u2026'));
}

TEST_F(PdfReportTest, AFileThatCannotBeWrittenIsAnErrorWithItsPath)
{
    const QString nowhere = folder.filePath(u"no/such/folder/report.pdf"_s);
    try {
        writePdf(report::Report{}, nowhere);
        FAIL() << "writing into a folder that does not exist went well";
    } catch (const Error& error) {
        EXPECT_EQ(error.where(), nowhere.toStdString());
        EXPECT_FALSE(error.mend().empty());
    }
}

}  // namespace
}  // namespace fp8scope::gui

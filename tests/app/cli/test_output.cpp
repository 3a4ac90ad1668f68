// SPDX-License-Identifier: Apache-2.0
#include "app/cli/output.h"

#include <gtest/gtest.h>

#include <sstream>

namespace fp8scope::cli {
namespace {

std::size_t widestLine(const std::string& text)
{
    std::istringstream lines(text);
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);)
        widest = std::max(widest, displayWidth(line));
    return widest;
}

TEST(OutputTest, NumbersAreRightAlignedAndTextLeft)
{
    Table table;
    table.headline = "demo: times measured on a CPU";
    table.columns = {{"family", "family", false}, {"time", "exposed_ns"}};
    table.rows = {{textCell("GEMM fp8"), {"64.5 ms", 64500000}}, {textCell("Bias"), {"5 ms", 5000000}}};
    EXPECT_EQ(renderTable(table), "demo: times measured on a CPU\n"
                                  "\n"
                                  "family       time\n"
                                  "-----------------\n"
                                  "GEMM fp8  64.5 ms\n"
                                  "Bias         5 ms\n");
}

TEST(OutputTest, ALongNameGivesWayAndKeepsBothEnds)
{
    Table table;
    table.columns = {{"kernel", "name", false, true}, {"time", "exposed_ns"}};
    table.rows = {{textCell("nvjet_" + std::string(300, 'x') + "_TNT"), {"64.5 ms", 1}}};
    const std::string text = renderTable(table);
    EXPECT_EQ(widestLine(text), kWidth);
    EXPECT_NE(text.find("nvjet_xxx"), std::string::npos);
    EXPECT_NE(text.find("xxx_TNT  64.5 ms"), std::string::npos);
}

TEST(OutputTest, WidthCountsCharactersNotBytes)
{
    EXPECT_EQ(displayWidth("−5 µs"), 5U);
    Table table;
    table.columns = {{"a", "a"}};
    table.rows = {{textCell("−5 µs")}, {textCell("12345")}};
    EXPECT_EQ(renderTable(table), "    a\n-----\n−5 µs\n12345\n");
}

TEST(OutputTest, NotesAndHeadlinesWrapAtTheWidth)
{
    std::string sentence;
    for (int i = 0; i < 60; ++i)
        sentence += "word ";
    EXPECT_LE(widestLine(wrap(sentence, 4)), kWidth);
    EXPECT_EQ(wrap("one short line"), "one short line\n");
}

TEST(OutputTest, ASentenceInTheLastColumnGoesOnInFurtherLines)
{
    Table table;
    table.columns = {{"bar", "bar", false}, {"what it is", "explanation", false, false, true}};
    std::string sentence = "first";
    for (int i = 0; i < 30; ++i)
        sentence += " word";
    table.rows = {{textCell("bias"), textCell(sentence)}, {textCell("step"), textCell("")}};
    const std::string text = renderTable(table);
    EXPECT_LE(widestLine(text), kWidth);
    EXPECT_NE(text.find("bias  first word"), std::string::npos);
    EXPECT_NE(text.find("\n      word"), std::string::npos);
    EXPECT_NE(text.find("\nstep\n"), std::string::npos);
}

TEST(OutputTest, CsvQuotesWhatNeedsItAndWritesRawValues)
{
    Table table;
    table.columns = {{"kernel", "name", false}, {"time", "exposed_ns"}, {"rate", "rate"}};
    table.rows = {{textCell("void f<int, 3>(\"x\")"), {"64.5 ms", 64500000}, {"-", Json()}}};
    EXPECT_EQ(renderCsv(table), "name,exposed_ns,rate\n\"void f<int, 3>(\"\"x\"\")\",64500000,null\n");
}

TEST(OutputTest, CsvOfSeveralRunsHasOneHeader)
{
    Table table;
    table.columns = {{"layer", "layer", false}};
    table.rows = {{textCell("layer0")}};
    EXPECT_EQ(renderCsvOfRun(table, "bf16", true) + renderCsvOfRun(table, "fp8", false),
              "run,layer\nbf16,layer0\nfp8,layer0\n");
}

}  // namespace
}  // namespace fp8scope::cli

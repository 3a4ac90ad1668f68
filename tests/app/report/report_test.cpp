// SPDX-License-Identifier: Apache-2.0
#include "app/report/report.h"
#include "app/report/svg_charts.h"
#include "app/report/tables.h"
#include "tests/app/analysis/planted_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace fp8scope::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Report planted(const Device& device)
{
    Trace trace =
        test::plantedTrace(device, {.batch = 4096}, {test::bf16Mode(), test::plainFp8Mode(), test::fusedFp8Mode()});
    trace.memory = {
        {RunId(0), "weights", 1'000'000}, {RunId(1), "weights", 1'000'000}, {RunId(1), "fp8 copies", 500'000}};
    trace.tensorStats = {
        {.run = RunId(1), .tensor = "layer0.dy", .format = "e5m2", .amax = 1, .count = 100, .underflowed = 3}};
    trace.diagnostics = {{RunId(1), "dropped", Severity::DataLoss, 2, "2 records were dropped"}};
    return buildReport(trace, analysis::overview(trace), "demo.fp8trace", "2026-01-02");
}

std::vector<std::string> headings(const Report& report)
{
    std::vector<std::string> found;
    for (const Block& block : report.blocks) {
        if (const auto* heading = std::get_if<Heading>(&block))
            found.push_back(heading->text);
    }
    return found;
}

TEST(ReportTest, ReadsFromAnswerToHonesty)
{
    EXPECT_THAT(headings(planted(test::h100())),
                testing::ElementsAre("Time by family", "Where did my 2x go: bf16 to fp8",
                                     "Where did my 2x go: bf16 to fp8-fused", "What to change", "Layers", "Kernels",
                                     "Numerics", "Memory", "How far to trust this"));
}

TEST(ReportTest, OnACpuNoTwoTimesAreAskedFor)
{
    const Report report = planted(test::cpuWithoutFp8());
    EXPECT_EQ(report.title, "Where the time of a training step goes: demo.fp8trace");
    EXPECT_EQ(report.originLine, "times measured on a CPU");
    EXPECT_THAT(headings(report), Not(testing::Contains(HasSubstr("2x"))));
    EXPECT_THAT(toMarkdown(report), HasSubstr("This CPU has no FP8 units"));
}

TEST(ReportTest, FactsNameFileMachineAndOrigin)
{
    const Report report = planted(test::h100());
    EXPECT_THAT(report.facts, testing::Contains(testing::Pair("File", "demo.fp8trace")));
    EXPECT_THAT(report.facts, testing::Contains(testing::Pair("Report made", "2026-01-02")));
    EXPECT_THAT(report.facts, testing::Contains(testing::Pair("Machine", "NVIDIA H100, 132 SMs, sm_90, FP8 units")));
    EXPECT_THAT(report.facts, testing::Contains(testing::Pair("Times", "measured on a GPU")));
    EXPECT_THAT(report.facts, testing::Contains(testing::Pair("Model", "4096 → 4096 → 4096 → 4096")));
}

TEST(ReportTest, TablesAreRectangular)
{
    for (const Block& block : planted(test::h100()).blocks) {
        const auto* table = std::get_if<Table>(&block);
        if (table == nullptr)
            continue;
        EXPECT_EQ(table->numeric.size(), table->columns.size()) << table->title;
        for (const auto& row : table->rows)
            EXPECT_EQ(row.size(), table->columns.size()) << table->title;
    }
}

TEST(ReportTest, AnEmptyTraceGivesAReportAllTheSame)
{
    const Trace trace;
    const Report report = buildReport(trace, analysis::overview(trace), "empty.fp8trace", "2026-01-02");
    EXPECT_THAT(toMarkdown(report), HasSubstr("This trace holds no run."));
    EXPECT_THAT(toHtml(report), HasSubstr("This trace holds no run."));
}

TEST(Markdown, AccountAsATable)
{
    analysis::SpeedupAccount account{.fromMode = "bf16", .toMode = "fp8", .fromNs = 100'000'000, .toNs = 98'000'000};
    account.bars = {{"ideal fp8 GEMMs", -38'000'000, "halved."}, {"quantization", 36'000'000, "casts."}};
    const Report report{.title = "T", .originLine = "times measured on a GPU", .blocks = {Waterfall{account}}};
    EXPECT_EQ(toMarkdown(report), "# T\n\n\n"
                                  "| From bf16 to fp8 | A step | What is in it |\n"
                                  "|---|---:|---|\n"
                                  "| bf16 step | 100 ms |  |\n"
                                  "| ideal fp8 GEMMs | -38.0 ms | halved. |\n"
                                  "| quantization | +36.0 ms | casts. |\n"
                                  "| fp8 step | 98.0 ms |  |\n\n"
                                  "*times measured on a GPU*\n");
}

TEST(Markdown, AFindingWithAllItsParts)
{
    analysis::Finding f{.rule = "bias-epilogue",
                        .title = "48 separate bias kernels",
                        .why = "Each pass reads all.",
                        .gainNs = 5'200'000,
                        .gain = {4'800'000, 5'500'000},
                        .formula = "their time",
                        .wrongIf = "no epilogue"};
    f.evidence = {{.text = "seen"}};
    f.change = {{"fusion.bias_epilogue", "true"}};
    f.options = {{"Megatron-LM", "--disable-bias-linear"}};
    const Report report{.title = "T", .originLine = "o", .blocks = {Advice{{f}}}};
    EXPECT_EQ(toMarkdown(report), "# T\n\n\n"
                                  "- **48 separate bias kernels**: saves 5.20 ms a step (4.80 ms to 5.50 ms)\n"
                                  "  - Each pass reads all.\n"
                                  "  - Evidence: seen\n"
                                  "  - Engine: `fusion.bias_epilogue = true`\n"
                                  "  - Megatron-LM: --disable-bias-linear\n"
                                  "  - Estimate: their time\n"
                                  "  - Wrong if: no epilogue\n\n"
                                  "*o*\n");
}

TEST(Markdown, MarkupInNamesIsEscaped)
{
    const Report report{
        .title = "a|b",
        .originLine = "o",
        .blocks = {Table{.columns = {"k"}, .numeric = {false}, .rows = {{"void f<int>(*p) | `x`\nnext"}}}}};
    EXPECT_THAT(toMarkdown(report), HasSubstr("# a\\|b"));
    EXPECT_THAT(toMarkdown(report), HasSubstr("| void f&lt;int&gt;(\\*p) \\| \\`x\\` next |"));
}

TEST(Html, TextIsEscapedEverywhere)
{
    const std::string evil = "<script>alert('x')</script>\"&";
    Report report{.title = evil, .facts = {{evil, evil}}, .originLine = evil};
    report.blocks = {Heading{evil},
                     Paragraph{{{evil, analysis::Tone::Bad}}},
                     Figures{{{evil, evil, evil, evil}}},
                     Table{.title = evil, .columns = {evil}, .numeric = {true}, .rows = {{evil}}},
                     FamilyBars{{{.mode = evil, .ns = {1, 2}}}},
                     Waterfall{{.fromMode = evil, .toMode = evil, .fromNs = 2, .toNs = 1, .bars = {{evil, -1, evil}}}},
                     Advice{{{.rule = evil,
                              .title = evil,
                              .why = evil,
                              .formula = evil,
                              .wrongIf = evil,
                              .evidence = {{.text = evil}},
                              .change = {{evil, evil}},
                              .options = {{evil, evil}}}}}};
    const std::string html = toHtml(report);
    EXPECT_THAT(html, Not(HasSubstr("<script")));
    EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;"));
}

TEST(Html, NeedsNothingElse)
{
    const std::string html = toHtml(planted(test::h100()));
    EXPECT_THAT(html, Not(HasSubstr("src=")));
    EXPECT_THAT(html, Not(HasSubstr("href=")));
    EXPECT_THAT(html, Not(HasSubstr("<link")));
    EXPECT_THAT(html, HasSubstr("<svg"));
    EXPECT_TRUE(html.ends_with("</body></html>\n"));
}

TEST(Html, EveryElementThatOpensCloses)
{
    const std::string html = toHtml(planted(test::h100()));
    const auto count = [&](const std::string& needle) {
        std::size_t n = 0;
        for (std::size_t at = html.find(needle); at != std::string::npos; at = html.find(needle, at + 1))
            ++n;
        return n;
    };
    for (const std::string tag : {"div", "table", "tr", "td", "svg", "text", "p", "h2", "dl", "span"})
        EXPECT_EQ(count("<" + tag + ">") + count("<" + tag + " "), count("</" + tag + ">")) << tag;
}

TEST(Charts, StackedBarsShareOneScale)
{
    FamilyBars chart;
    chart.bars = {{.mode = "bf16", .ns = {}}, {.mode = "fp8", .ns = {}}};
    chart.bars[0].ns[static_cast<std::size_t>(Family::Gemm16)] = 100;
    chart.bars[1].ns[static_cast<std::size_t>(Family::GemmFp8)] = 50;
    const std::string svg = familyBarsSvg(chart);
    EXPECT_THAT(svg, HasSubstr("width=\"570.0\" height=\"26.0\" fill=\"#56B4E9\""));
    EXPECT_THAT(svg, HasSubstr("width=\"285.0\" height=\"26.0\" fill=\"#0072B2\""));
    EXPECT_THAT(svg, Not(HasSubstr("Quantization")));  // the legend names what occurs
}

TEST(Charts, WaterfallBarsStartWhereTheLastOneEnded)
{
    analysis::SpeedupAccount account{.fromMode = "bf16", .toMode = "fp8", .fromNs = 100, .toNs = 80};
    account.bars = {{"gain", -50, ""}, {"cost", 30, ""}};
    const std::string svg = waterfallSvg(account);
    EXPECT_THAT(
        svg,
        HasSubstr("y=\"24.0\" width=\"133.0\" height=\"100.0\" fill=\"#1A7F4B\""));  // 100 down to 50 of 200 pixels
    EXPECT_THAT(svg, HasSubstr("y=\"64.0\" width=\"133.0\" height=\"60.0\" fill=\"#D55E00\""));   // 50 up to 80
    EXPECT_THAT(svg, HasSubstr("y=\"64.0\" width=\"133.0\" height=\"160.0\" fill=\"#8A8F98\""));  // the fp8 step, 80
}

TEST(Tables, FamiliesWithShares)
{
    test::TraceBuilder builder;
    builder.run("bf16").track("q").slice(0, 750'000, "gemm", Role::Gemm, Precision::Bf16).step(0, 0, 1'000'000);
    const Table table = familyTable(analysis::breakdowns(builder.build()));
    EXPECT_THAT(table.rows, testing::ElementsAre(testing::ElementsAre("GEMM 16-bit", "750 µs (75.0%)"),
                                                 testing::ElementsAre("Idle", "250 µs (25.0%)"),
                                                 testing::ElementsAre("Step", "1.00 ms")));
}

}  // namespace
}  // namespace fp8scope::report

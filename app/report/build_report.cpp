// SPDX-License-Identifier: Apache-2.0
// Puts an overview's figures into the order in which a report is read: answer, figures, charts, what to change,
// details, honesty.
#include "app/report/report.h"

#include "app/report/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fp8scope::report {
namespace {

std::string machineOf(const Trace& trace, const analysis::Overview& overview)
{
    const analysis::Breakdown* focus = analysis::focusRun(overview.runs);
    const Device* device = focus != nullptr ? analysis::deviceOf(trace, focus->run) : nullptr;
    if (device == nullptr)
        return "unknown";
    std::vector<std::string> parts{device->name};
    if (device->units > 0)
        parts.push_back(fmt::format("{} {}", device->units,
                                    device->kind == "gpu" ? "SMs"
                                    : device->units == 1  ? "core"
                                                          : "cores"));
    if (!device->arch.empty())
        parts.push_back(device->arch);
    if (device->memoryBytes > 0)
        parts.push_back(analysis::formatBytes(device->memoryBytes));
    parts.emplace_back(device->hasFp8 ? "FP8 units" : "no FP8 units");
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// "1024 → 1024 → 128": the widths of the first run's layers. An imported model is no chain of linear layers: their
/// number.
std::string modelOf(const Trace& trace)
{
    if (!trace.runs.empty() && trace.runs.front().origin == Origin::Imported) {
        const auto count = std::count_if(trace.layers.begin(), trace.layers.end(),
                                         [](const Layer& layer) { return layer.run == RunId(0); });
        return count > 0 ? fmt::format("{} layers", count) : std::string();
    }
    std::string text;
    for (const Layer& layer : trace.layers) {
        if (layer.run != RunId(0))
            continue;
        if (text.empty())
            text = fmt::format("{}", layer.inFeatures);
        text += fmt::format(" → {}", layer.outFeatures);
    }
    return text;
}

std::string modesOf(const analysis::Overview& overview)
{
    std::vector<std::string> modes;
    for (const analysis::Breakdown& run : overview.runs)
        modes.push_back(run.steps.repeats > 1 ? fmt::format("{} ({} repeats)", run.mode, run.steps.repeats) : run.mode);
    return fmt::format("{}", fmt::join(modes, ", "));
}

std::vector<std::pair<std::string, std::string>> factsOf(const Trace& trace, const analysis::Overview& overview,
                                                         std::string fileName, std::string madeAt)
{
    std::vector<std::pair<std::string, std::string>> facts;
    const auto add = [&](std::string name, std::string value) {
        if (!value.empty())
            facts.emplace_back(std::move(name), std::move(value));
    };
    add("File", std::move(fileName));
    add("Report made", std::move(madeAt));
    add("Machine", machineOf(trace, overview));
    add("Times", std::string(describe(overview.honesty.origin)));
    add("Runs", modesOf(overview));
    add("Model", modelOf(trace));
    add("Steps", overview.honesty.steps);
    if (!trace.runs.empty())
        add("Recorded by", trace.runs.front().tool);
    return facts;
}

FamilyBars familyBars(const analysis::Overview& overview)
{
    FamilyBars chart;
    for (const analysis::Breakdown& run : overview.runs) {
        if (run.stepNs == 0)
            continue;
        FamilyBars::Bar bar{.mode = run.mode};
        for (std::size_t f = 0; f < bar.ns.size(); ++f)
            bar.ns[f] = run.families[f].exposedNs;
        chart.bars.push_back(std::move(bar));
    }
    return chart;
}

Paragraph accountNote(const analysis::SpeedupAccount& a)
{
    std::string text =
        fmt::format("{} is {:.2f}× as fast as {} ({:.2f} to {:.2f}{}).", a.toMode, a.speedup, a.fromMode,
                    a.speedupInterval.low, a.speedupInterval.high, a.withinNoise ? "; within noise" : "");
    if (a.idealGemmRatio > 1)
        text += fmt::format(" Amdahl bound: {:.2f}× if the 16-bit GEMMs, and nothing else, ran {:.3g} times as fast.",
                            a.amdahlBound, a.idealGemmRatio);
    if (a.idealGemmRatio > 1 && a.quantizationPerFp8Gemm > 0)
        text += fmt::format(" Quantization takes {:.2f} of the fp8 GEMMs' time; break-even would be {:.2f}.",
                            a.quantizationPerFp8Gemm, a.breakEven);
    return {{{std::move(text), analysis::Tone::Plain}}};
}

class Builder {
public:
    explicit Builder(Report& report) : m_report(report) {}
    void heading(std::string text) { m_report.blocks.emplace_back(Heading{std::move(text)}); }
    void paragraph(std::vector<analysis::TextSpan> spans)
    {
        if (!spans.empty())
            m_report.blocks.emplace_back(Paragraph{std::move(spans)});
    }
    void text(std::string text) { paragraph({{std::move(text), analysis::Tone::Plain}}); }
    void block(Block block) { m_report.blocks.push_back(std::move(block)); }
    void table(Table table)
    {
        if (!table.rows.empty())
            m_report.blocks.emplace_back(std::move(table));
    }
    /// Tables under a heading that is left out when all of them are empty.
    void tables(std::string title, std::vector<Table> tables)
    {
        if (std::all_of(tables.begin(), tables.end(), [](const Table& t) { return t.rows.empty(); }))
            return;
        heading(std::move(title));
        for (Table& t : tables)
            table(std::move(t));
    }

private:
    Report& m_report;
};

void addCharts(const analysis::Overview& overview, Builder& out)
{
    FamilyBars bars = familyBars(overview);
    if (bars.bars.empty())
        return;
    out.heading("Time by family");
    out.block(std::move(bars));
    out.table(familyTable(overview.runs));
    for (const analysis::SpeedupAccount& account : overview.accounts) {
        out.heading(fmt::format("{}: {} to {}",
                                account.idealGemmRatio > 1 ? "Where did my 2x go" : "Where the time goes",
                                account.fromMode, account.toMode));
        out.block(Waterfall{account});
        out.block(accountNote(account));
    }
}

void addAblation(const analysis::Overview& overview, Builder& out)
{
    if (!overview.ablation)
        return;
    out.heading(fmt::format("What each fusion buys: {} to {}", overview.ablationAccount->fromMode,
                            overview.ablationAccount->toMode));
    out.block(Waterfall{*overview.ablationAccount});
    std::string note = overview.ablation->plain.repeats > 1
                           ? fmt::format("Medians over {} repeats in alternating order; intervals by bootstrap.",
                                         overview.ablation->plain.repeats)
                           : "From one run a mode: repeats would tell how far to trust the differences.";
    if (!overview.ablation->skipped.empty())
        note += " Left out: " + overview.ablation->skipped;
    out.text(std::move(note));
}

void addAdvice(const analysis::Overview& overview, Builder& out)
{
    out.heading("What to change");
    if (overview.findings.empty())
        out.text("No rule found anything to change in these runs.");
    else
        out.block(Advice{overview.findings});
}

}  // namespace

Report buildReport(const Trace& trace, const analysis::Overview& overview, std::string fileName, std::string madeAt)
{
    Report report;
    const bool fp8Device = std::any_of(overview.accounts.begin(), overview.accounts.end(),
                                       [](const analysis::SpeedupAccount& a) { return a.idealGemmRatio > 1; });
    report.title =
        fmt::format("{} {}", fp8Device ? "Where did my 2x go?" : "Where the time of a training step goes:", fileName);
    report.facts = factsOf(trace, overview, std::move(fileName), std::move(madeAt));
    report.originLine = fmt::format("times {}", describe(overview.honesty.origin));

    Builder out(report);
    out.paragraph(overview.headline);
    out.paragraph(overview.note);
    if (!overview.figures.empty())
        out.block(Figures{overview.figures});
    addCharts(overview, out);
    addAblation(overview, out);
    addAdvice(overview, out);
    out.tables("Layers", {layersTable(trace, overview.runs)});
    out.tables("Kernels", kernelTables(trace, overview.runs));
    out.tables("Numerics", {lossTable(trace, overview.runs), tensorTable(trace, overview.runs)});
    out.tables("Memory", {memoryTable(trace, overview.runs)});
    out.heading("How far to trust this");
    out.table(honestyTable(overview.honesty));
    out.table(diagnosticsTable(trace));
    return report;
}

}  // namespace fp8scope::report

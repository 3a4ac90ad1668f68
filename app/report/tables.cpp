// SPDX-License-Identifier: Apache-2.0
#include "app/report/tables.h"

#include "app/analysis/layers.h"
#include "app/analysis/numerics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace fp8scope::report {
namespace {

using analysis::formatTime;

constexpr std::size_t kMostKernels = 12;
constexpr std::size_t kMostTensors = 10;

void addColumn(Table& table, std::string name, bool numeric)
{
    table.columns.push_back(std::move(name));
    table.numeric.push_back(numeric);
}

Table tableWith(std::string title, std::initializer_list<std::pair<std::string, bool>> columns)
{
    Table table{.title = std::move(title)};
    for (const auto& [name, numeric] : columns)
        addColumn(table, name, numeric);
    return table;
}

std::string timeWithShare(std::int64_t ns, std::int64_t stepNs)
{
    if (ns == 0)
        return "";
    return fmt::format("{} ({})", formatTime(ns),
                       analysis::formatPercent(static_cast<double>(ns) / static_cast<double>(stepNs)));
}

std::vector<const analysis::Breakdown*> measuredRuns(const std::vector<analysis::Breakdown>& runs)
{
    std::vector<const analysis::Breakdown*> measured;
    for (const analysis::Breakdown& run : runs) {
        if (run.stepNs > 0)
            measured.push_back(&run);
    }
    return measured;
}

Table kernelTable(const Trace& trace, const analysis::Breakdown& run)
{
    Table table =
        tableWith(fmt::format("Kernels of {} with the most exposed time, a step", run.mode), {{"Kernel", false},
                                                                                              {"Role", false},
                                                                                              {"Exposed", true},
                                                                                              {"Busy", true},
                                                                                              {"Count", true},
                                                                                              {"Median", true},
                                                                                              {"Rate", true}});
    for (std::size_t i = 0; i < std::min(run.kernels.size(), kMostKernels); ++i) {
        const analysis::KernelTime& k = run.kernels[i];
        const std::string rate = k.role == Role::Gemm && k.flopsPerSecond > 0 ? analysis::formatFlops(k.flopsPerSecond)
                                 : k.bytesPerSecond > 0 ? analysis::formatBandwidth(k.bytesPerSecond)
                                                        : "";
        table.rows.push_back({trace.name(k.name).text, std::string(toString(k.role)),
                              timeWithShare(k.exposedNs, run.stepNs), formatTime(k.busyNs),
                              fmt::format("{:.4g}", k.countPerStep), formatTime(k.medianNs), rate});
    }
    return table;
}

std::string formatShare(double share)
{
    if (share == 0)
        return "0";
    return share < 0.0001 ? fmt::format("{:.1e}", share) : fmt::format("{:.2f}%", 100 * share);
}

}  // namespace

std::string formatDelta(std::int64_t ns) { return fmt::format("{}{}", ns > 0 ? "+" : "", formatTime(ns)); }

Table familyTable(const std::vector<analysis::Breakdown>& runs)
{
    const auto measured = measuredRuns(runs);
    Table table = tableWith("Exposed time by family, a step", {{"Family", false}});
    for (const analysis::Breakdown* run : measured)
        addColumn(table, run->mode, true);
    for (int f = 0; f < kFamilyCount; ++f) {
        std::vector<std::string> row{std::string(toString(static_cast<Family>(f)))};
        bool any = false;
        for (const analysis::Breakdown* run : measured) {
            const std::int64_t ns = (*run)[static_cast<Family>(f)].exposedNs;
            row.push_back(timeWithShare(ns, run->stepNs));
            any = any || ns > 0;
        }
        if (any)
            table.rows.push_back(std::move(row));
    }
    std::vector<std::string> total{"Step"};
    for (const analysis::Breakdown* run : measured)
        total.push_back(formatTime(run->stepNs));
    if (!measured.empty())
        table.rows.push_back(std::move(total));
    return table;
}

Table accountTable(const analysis::SpeedupAccount& account)
{
    Table table = tableWith(
        "",
        {{"From " + account.fromMode + " to " + account.toMode, false}, {"A step", true}, {"What is in it", false}});
    table.rows.push_back({account.fromMode + " step", formatTime(account.fromNs), ""});
    for (const analysis::AccountBar& bar : account.bars)
        table.rows.push_back({bar.name, formatDelta(bar.deltaNs), bar.explanation});
    table.rows.push_back({account.toMode + " step", formatTime(account.toNs), ""});
    return table;
}

Table layersTable(const Trace& trace, const std::vector<analysis::Breakdown>& runs)
{
    Table table =
        tableWith("Exposed time by layer, a step", {{"Layer", false}, {"Shape", false}, {"Precision", false}});
    for (const analysis::Breakdown& run : runs)
        addColumn(table, run.mode, true);
    addColumn(table, "Verdict", false);
    if (trace.layers.empty())
        return table;
    for (const analysis::LayerRow& layer : analysis::layerTable(trace, runs)) {
        std::vector<std::string> row{layer.name};
        row.push_back(layer.inFeatures > 0 ? fmt::format("{} → {}", layer.inFeatures, layer.outFeatures) : "");
        row.push_back(layer.reason.empty() ? layer.precision : fmt::format("{}: {}", layer.precision, layer.reason));
        std::string verdict;
        for (std::size_t r = 0; r < runs.size(); ++r) {
            row.push_back(layer.costs[r].totalNs() > 0 ? formatTime(layer.costs[r].totalNs()) : "");
            if (!layer.verdicts[r].text.empty() && layer.inFeatures > 0)
                verdict += (verdict.empty() ? "" : "; ") + layer.verdicts[r].text;
        }
        row.push_back(std::move(verdict));
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::vector<Table> kernelTables(const Trace& trace, const std::vector<analysis::Breakdown>& runs)
{
    std::vector<Table> tables;
    for (const analysis::Breakdown* run : measuredRuns(runs))
        tables.push_back(kernelTable(trace, *run));
    return tables;
}

Table lossTable(const Trace& trace, const std::vector<analysis::Breakdown>& runs)
{
    Table table = tableWith("Loss", {{"Run", false}, {"First step", true}, {"Last step", true}, {"Steps", true}});
    for (const analysis::Breakdown& run : runs) {
        const std::vector<analysis::LossPoint> curve = analysis::lossCurve(trace, run.run);
        if (!curve.empty())
            table.rows.push_back({run.mode, fmt::format("{:.6g}", curve.front().loss),
                                  fmt::format("{:.6g}", curve.back().loss), fmt::format("{}", curve.size())});
    }
    return table;
}

Table tensorTable(const Trace& trace, const std::vector<analysis::Breakdown>& runs)
{
    Table table = tableWith("Quantized tensors that lose the most", {{"Tensor", false},
                                                                     {"Run", false},
                                                                     {"Format", false},
                                                                     {"Saturated", true},
                                                                     {"Underflowed", true},
                                                                     {"Zero before", true},
                                                                     {"Largest amax", true}});
    std::vector<analysis::TensorNumerics> tensors;
    for (const analysis::Breakdown& run : runs) {
        std::vector<analysis::TensorNumerics> ofRun = analysis::tensorNumerics(trace, run.run);
        std::move(ofRun.begin(), ofRun.end(), std::back_inserter(tensors));
    }
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const auto& a, const auto& b) { return a.lossShare() > b.lossShare(); });
    for (std::size_t i = 0; i < std::min(tensors.size(), kMostTensors); ++i) {
        const analysis::TensorNumerics& t = tensors[i];
        table.rows.push_back({t.tensor, trace.run(t.run).mode, t.format, formatShare(t.saturatedShare),
                              formatShare(t.underflowShare), formatShare(t.zeroShare),
                              fmt::format("{:.4g}", t.amaxMax)});
    }
    return table;
}

Table memoryTable(const Trace& trace, const std::vector<analysis::Breakdown>& runs)
{
    Table table = tableWith("Memory by class of tensor, each at its own peak", {{"Class", false}});
    for (const analysis::Breakdown& run : runs)
        addColumn(table, run.mode, true);
    std::map<std::string, std::size_t> rowOf;
    for (const MemoryClass& memory : trace.memory) {
        const auto run =
            std::find_if(runs.begin(), runs.end(), [&](const analysis::Breakdown& b) { return b.run == memory.run; });
        if (run == runs.end())
            continue;
        const auto [entry, isNew] = rowOf.try_emplace(memory.name, table.rows.size());
        if (isNew) {
            table.rows.emplace_back(table.columns.size());
            table.rows.back().front() = memory.name;
        }
        table.rows[entry->second][static_cast<std::size_t>(run - runs.begin()) + 1] =
            analysis::formatBytes(memory.bytes);
    }
    return table;
}

Table honestyTable(const analysis::Honesty& honesty)
{
    Table table = tableWith("", {{"", false}, {"", false}});
    table.rows = {{"Times", std::string(describe(honesty.origin))},
                  {"Steps", honesty.steps},
                  {"Statistic", honesty.statistic},
                  {"Kernels", honesty.classified},
                  {"Losses", honesty.losses}};
    if (!honesty.framework.empty())
        table.rows.push_back({"Framework", honesty.framework});
    return table;
}

Table diagnosticsTable(const Trace& trace)
{
    Table table = tableWith("Oddities counted while recording or reading",
                            {{"Name", false}, {"Severity", false}, {"Count", true}, {"Text", false}});
    for (const Diagnostic& d : trace.diagnostics)
        table.rows.push_back({d.name, std::string(toString(d.severity)), fmt::format("{}", d.count), d.text});
    return table;
}

}  // namespace fp8scope::report

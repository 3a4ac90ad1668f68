// SPDX-License-Identifier: Apache-2.0
// `fp8scope kernels`: every distinct kernel of a run with its time, count and achieved rates.
#include "app/cli/command.h"
#include "app/cli/open_progress.h"

#include "app/analysis/classify/kernel_name.h"
#include "app/analysis/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fp8scope::cli {
namespace {

constexpr std::size_t kLongestComment = 200;

struct KernelOptions : TraceOptions {
    std::size_t top = 30;
    std::string sort = "exposed";
    bool unknown = false;
};

std::int64_t sortKey(const analysis::KernelTime& k, const std::string& sort)
{
    if (sort == "busy")
        return k.busyNs;
    if (sort == "count")
        return static_cast<std::int64_t>(k.countPerStep * 1000);
    return sort == "median" ? k.medianNs : k.exposedNs;
}

std::vector<analysis::KernelTime> chosenKernels(const analysis::Breakdown& run, const KernelOptions& options)
{
    std::vector<analysis::KernelTime> kernels = run.kernels;
    if (options.unknown)
        std::erase_if(kernels, [](const auto& k) { return k.role != Role::Other; });
    std::stable_sort(kernels.begin(), kernels.end(),
                     [&](const auto& a, const auto& b) { return sortKey(a, options.sort) > sortKey(b, options.sort); });
    if (options.top > 0 && kernels.size() > options.top)
        kernels.resize(options.top);
    return kernels;
}

/// What bounds the kernel: arithmetic for GEMMs, memory for all others.
Cell rateCell(const analysis::KernelTime& k)
{
    if (k.role == Role::Gemm && k.flopsPerSecond > 0)
        return {analysis::formatFlops(k.flopsPerSecond), k.flopsPerSecond};
    if (k.bytesPerSecond > 0)
        return {analysis::formatBandwidth(k.bytesPerSecond), k.bytesPerSecond};
    return {"-", Json()};
}

Table tableOf(const Trace& trace, const analysis::Breakdown& run, const std::vector<analysis::KernelTime>& kernels,
              const std::string& unit, bool unknownOnly)
{
    Table table;
    table.columns = {{"kernel", "name", false, true},
                     {"family", "family", false},
                     {"count", "count_per_step"},
                     {"exposed", "exposed_ns"},
                     {"share", "share"},
                     {"median", "median_ns"},
                     {"p95", "p95_ns"},
                     {"rate", "rate"}};
    for (const analysis::KernelTime& k : kernels) {
        const double share = run.stepNs > 0 ? static_cast<double>(k.exposedNs) / static_cast<double>(run.stepNs) : 0.0;
        table.rows.push_back({textCell(trace.name(k.name).text),
                              textCell(toString(k.family)),
                              {fmt::format("{:.4g}", k.countPerStep), k.countPerStep},
                              timeCell(k.exposedNs, unit),
                              shareCell(share),
                              timeCell(k.medianNs, unit),
                              timeCell(k.p95Ns, unit),
                              rateCell(k)});
    }
    if (kernels.size() < run.kernels.size() && !unknownOnly)
        table.notes.push_back(fmt::format("{} more; --top 0 shows all", run.kernels.size() - kernels.size()));
    return table;
}

Json toJson(const Trace& trace, const std::vector<analysis::Breakdown>& runs, const KernelOptions& options)
{
    Json document{{"schema_version", kJsonSchema}, {"runs", Json::array()}};
    for (const analysis::Breakdown& run : runs) {
        Json kernels = Json::array();
        for (const analysis::KernelTime& k : chosenKernels(run, options)) {
            kernels.push_back(
                {{"name", trace.name(k.name).text},
                 {"role", toString(k.role)},
                 {"family", toString(k.family)},
                 {"layer",
                  k.op.valid() && trace.op(k.op).layer.valid() ? Json(trace.layer(trace.op(k.op).layer).name) : Json()},
                 {"count_per_step", k.countPerStep},
                 {"exposed_ns", k.exposedNs},
                 {"busy_ns", k.busyNs},
                 {"median_ns", k.medianNs},
                 {"p95_ns", k.p95Ns},
                 {"min_ns", k.minNs},
                 {"max_ns", k.maxNs},
                 {"flops_per_second", k.flopsPerSecond},
                 {"bytes_per_second", k.bytesPerSecond}});
        }
        document["runs"].push_back({{"mode", run.mode},
                                    {"origin", toString(run.origin)},
                                    {"step_ns", run.stepNs},
                                    {"kernels", std::move(kernels)}});
    }
    return document;
}

/// The function as an expression that takes it alone: what RE2 reads as syntax is escaped.
std::string expressionOf(std::string_view function)
{
    std::string expression = "^";
    for (const char c : function) {
        if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos)
            expression += '\\';
        expression += c;
    }
    return expression + "$";
}

/// Rules for a user's file, one a function, longest time first; the role is for the user to fill in.
std::string ruleSnippet(const Trace& trace, const std::vector<analysis::Breakdown>& runs, const KernelOptions& options)
{
    std::string out;
    std::set<std::string> functions;
    for (const analysis::Breakdown& run : runs) {
        for (const analysis::KernelTime& k : chosenKernels(run, options)) {
            const analysis::KernelName name(trace.name(k.name).text);
            const std::string function(name.function());
            if (function.find_first_of("'\n\r") != std::string::npos || !functions.insert(function).second)
                continue;
            const double share =
                run.stepNs > 0 ? static_cast<double>(k.exposedNs) / static_cast<double>(run.stepNs) : 0.0;
            out += fmt::format("# {} a step, {} of it, {:.4g} times: {}\n[[rule]]\nid = \"own-{}\"\nfunction = '{}'\n"
                               "role = \"other\"  # your word for it\n\n",
                               analysis::formatTime(k.exposedNs, options.timeUnit), analysis::formatPercent(share),
                               k.countPerStep, std::string(name.text().substr(0, kLongestComment)), functions.size(),
                               expressionOf(function));
        }
    }
    if (out.empty())
        return "Every kernel is known.\n";
    return "# Kernels that no rule knows. Give each a role and put them into "
           "~/.config/fp8scope/kernel_rules.toml.\n\n" +
           out;
}

}  // namespace

void addKernelsCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<KernelOptions>();
    CLI::App* command =
        app.add_subcommand("kernels", "Every kernel with its time, count and achieved FLOP/s or bytes/s");
    addTraceOptions(*command, *options);
    command->add_option("--top", options->top, "How many (0: all)")->capture_default_str()->option_text("N");
    command->add_option("--sort", options->sort, "By exposed, busy, count or median")
        ->check(CLI::IsMember({"exposed", "busy", "count", "median"}).description(""))
        ->option_text("KEY");
    command->add_flag("--unknown", options->unknown, "Only kernels that no rule knows, as rules to fill in");
    command->callback([options] {
        const Trace trace = openWithProgress(options->file, options->rules);
        const std::vector<analysis::Breakdown> runs = chosenRuns(trace, *options);
        if (options->format == Format::Json) {
            printJson(toJson(trace, runs, *options));
            return;
        }
        if (options->unknown && options->format == Format::Table) {
            print(ruleSnippet(trace, runs, *options));
            return;
        }
        for (std::size_t i = 0; i < runs.size(); ++i) {
            Table table =
                tableOf(trace, runs[i], chosenKernels(runs[i], *options), options->timeUnit, options->unknown);
            if (options->format == Format::Csv) {
                print(renderCsvOfRun(std::move(table), runs[i].mode, i == 0));
                continue;
            }
            table.headline = headline(trace, *options, runs[i].mode + ", kernels of a step");
            print((i > 0 ? "\n" : "") + renderTable(table));
        }
    });
}

}  // namespace fp8scope::cli

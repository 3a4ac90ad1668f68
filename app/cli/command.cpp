// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command.h"

#include "collector/trace/error.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>

namespace fp8scope::cli {
namespace {

/// "4-40", "4-", "-40" or "7".
analysis::StepLimit parseSteps(const std::string& text)
{
    const auto number = [&](std::string_view part, std::uint32_t fallback) {
        if (part.empty())
            return fallback;
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        if (error != std::errc() || end != part.data() + part.size())
            throw CLI::ValidationError("--steps", fmt::format("'{}' is not a range of steps such as 4-40", text));
        return value;
    };
    const std::size_t dash = text.find('-');
    const std::string_view view = text;
    analysis::StepLimit limit;
    limit.first = number(view.substr(0, dash), 0);
    limit.last = dash == std::string::npos ? limit.first : number(view.substr(dash + 1), UINT32_MAX);
    if (text.empty() || limit.first > limit.last)
        throw CLI::ValidationError("--steps", fmt::format("'{}' is not a range of steps such as 4-40", text));
    return limit;
}

/// A group's name stands for all its repeats, "fp8#2" for the second.
void addChosen(const Trace& trace, const analysis::RunGroup& group, const std::string& name,
               const analysis::StepLimit& limit, std::vector<analysis::Breakdown>& chosen)
{
    if (group.mode == name)
        chosen.push_back(analysis::breakdown(trace, group));
    for (std::size_t r = 0; group.runs.size() > 1 && r < group.runs.size(); ++r) {
        if (name != fmt::format("{}#{}", group.mode, r + 1))
            continue;
        chosen.push_back(analysis::breakdown(trace, group.runs[r], limit));
        chosen.back().mode = name;
    }
}

std::string namesOf(const std::vector<analysis::RunGroup>& groups)
{
    std::string names;
    for (const analysis::RunGroup& group : groups) {
        names += (names.empty() ? "" : ", ") + group.mode;
        if (group.runs.size() > 1)
            names += fmt::format(" (#1 to #{})", group.runs.size());
    }
    return names;
}

}  // namespace

void addFormatOption(CLI::App& command, Format& format)
{
    static const std::map<std::string, Format> formats{
        {"table", Format::Table}, {"json", Format::Json}, {"csv", Format::Csv}};
    command.add_option("--format", format, "How to print: table, json or csv")
        ->transform(CLI::CheckedTransformer(formats, CLI::ignore_case).description(""))
        ->option_text("FORMAT");
}

void addRulesOption(CLI::App& command, std::vector<std::filesystem::path>& files)
{
    command
        .add_option("--rules", files,
                    "Own rules for kernels whose recorder gave no role, tried before the built-in ones")
        ->option_text("FILE");
}

void addTraceOptions(CLI::App& command, TraceOptions& options)
{
    command.add_option("FILE", options.file, "The trace: .fp8trace, PyTorch JSON, nsys SQLite, folder")
        ->required()
        ->option_text(" ");
    addFormatOption(command, options.format);
    command.add_option("--time-unit", options.timeUnit, "Unit of times in tables: auto, ns, us, ms or s")
        ->check(CLI::IsMember({"auto", "ns", "us", "ms", "s"}).description(""))
        ->option_text("UNIT");
    command
        .add_option("--run", options.runs, "Only these runs, by mode (bf16,fp8,fp8-fused); fp8#2 is the second repeat")
        ->delimiter(',')
        ->option_text("MODE,...");
    command
        .add_option_function<std::string>(
            "--steps", [&options](const std::string& text) { options.steps = parseSteps(text); },
            "Only these steps, by index: 4-40")
        ->option_text("A-B");
    addRulesOption(command, options.rules);
}

std::vector<analysis::Breakdown> chosenRuns(const Trace& trace, const TraceOptions& options)
{
    if (trace.runs.empty())
        throw Error("the trace holds no run", options.file.string(), "record one with `fp8scope run`");
    if (options.runs.empty())
        return analysis::breakdowns(trace, options.steps);
    const std::vector<analysis::RunGroup> groups = analysis::runGroups(trace, options.steps);
    std::vector<analysis::Breakdown> chosen;
    for (const std::string& name : options.runs) {
        const auto before = chosen.size();
        for (const analysis::RunGroup& group : groups)
            addChosen(trace, group, name, options.steps, chosen);
        if (chosen.size() == before)
            throw Error(fmt::format("no run is named '{}'", name), options.file.string(),
                        "it holds: " + namesOf(groups));
    }
    return chosen;
}

std::string headline(const Trace& trace, const TraceOptions& options, std::string_view what)
{
    std::set<std::string> origins;
    for (const Run& run : trace.runs)
        origins.emplace(describe(run.origin));
    std::string origin;
    for (const std::string& o : origins)
        origin += (origin.empty() ? "" : " and ") + o;
    const std::string device = trace.devices.empty() ? std::string() : fmt::format(" ({})", trace.devices.front().name);
    return fmt::format("{}: {}; times {}{}", options.file.filename().string(), what, origin, device);
}

}  // namespace fp8scope::cli

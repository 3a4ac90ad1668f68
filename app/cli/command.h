// SPDX-License-Identifier: Apache-2.0
// What subcommands share: the options that read a trace, and the exit codes.
#pragma once

#include "app/analysis/breakdown.h"
#include "app/cli/output.h"
#include "collector/trace/trace.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace fp8scope::cli {

/// Documented in `fp8scope --help` and the manual page.
enum ExitCode : int {
    kSuccess = 0,
    kFailure = 1,     ///< the work could not be done; one sentence on standard error says why
    kUsage = 2,       ///< wrong arguments or configuration
    kIncomplete = 3,  ///< a run was cancelled, killed or out of disk; what was recorded is in the file
};

/// Options of every subcommand that asks a trace something.
struct TraceOptions {
    std::filesystem::path file;
    Format format = Format::Table;
    std::string timeUnit = "auto";
    std::vector<std::string> runs;  ///< modes to show; empty: all
    analysis::StepLimit steps;
    std::vector<std::filesystem::path> rules;  ///< own classification rules
};

/// FILE, --format, --time-unit, --run, --steps A-B, --rules.
void addTraceOptions(CLI::App& command, TraceOptions& options);
void addFormatOption(CLI::App& command, Format& format);
/// --rules FILE, which may be given several times.
void addRulesOption(CLI::App& command, std::vector<std::filesystem::path>& files);

/// The breakdowns of the runs chosen by --run (all by default, repeats taken together). Throws Error when a name
/// matches no run.
[[nodiscard]] std::vector<analysis::Breakdown> chosenRuns(const Trace&, const TraceOptions&);

/// "demo.fp8trace: bf16, 20 steps, measured on a CPU (AMD EPYC)": the head line of every table.
[[nodiscard]] std::string headline(const Trace&, const TraceOptions&, std::string_view what);

/// Prints as the format asks: table and CSV from `table`, JSON from `json()`.
template <typename MakeJson>
void emitResult(Format format, const Table& table, MakeJson&& json)
{
    switch (format) {
    case Format::Table: print(renderTable(table)); break;
    case Format::Csv: print(renderCsv(table)); break;
    case Format::Json: printJson(json()); break;
    }
}

/// The version of the JSON documents, a key "schema_version" in each; raised when a key changes its meaning.
inline constexpr int kJsonSchema = 1;

/// A subcommand registers itself; its callback stores what the process returns.
struct Program {
    int exitCode = kSuccess;
    std::filesystem::path executable;  ///< this program, for child processes
};

}  // namespace fp8scope::cli

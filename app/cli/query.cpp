// SPDX-License-Identifier: Apache-2.0
// `fp8scope query`: one read-only SQL statement on a trace, with the virtual table `slice`.
#include "app/cli/command.h"
#include "app/cli/open_progress.h"

#include "collector/import/import.h"
#include "collector/import/scratch_folder.h"
#include "collector/trace/error.h"
#include "collector/trace/trace_query.h"
#include "collector/trace/trace_writer.h"

#include <fmt/format.h>

#include <iostream>
#include <iterator>
#include <optional>

namespace fp8scope::cli {
namespace {

struct QueryOptions {
    std::filesystem::path file;
    std::string sql;
    Format format = Format::Table;
    std::uint64_t limit = 1000;
};

Cell cellOf(const SqlValue& value)
{
    return std::visit(
        [](const auto& v) -> Cell {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, std::monostate>)
                return {"", Json()};
            else if constexpr (std::is_same_v<T, std::string>)
                return textCell(v);
            else
                return {fmt::format("{}", v), v};
        },
        value);
}

/// Another profiler's file or folder has none of our tables: it is opened and saved in `scratch`, which goes
/// afterwards.
std::filesystem::path queryableFile(const std::filesystem::path& file, std::optional<import::ScratchFolder>& scratch)
{
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored) || file.extension() == ".fp8trace" ||
        import::recognize(file).kind == import::FileKind::Fp8scopeTrace)
        return file;
    const Trace trace = openWithProgress(file);
    scratch.emplace();
    const std::filesystem::path copy = scratch->path() / "query.fp8trace";
    saveTrace(trace, copy);
    return copy;
}

void runQuery(const QueryOptions& options)
{
    const std::string sql =
        options.sql == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : options.sql;
    std::optional<import::ScratchFolder> scratch;
    TraceQuery query(queryableFile(options.file, scratch));
    const QueryResult result = query.run(sql, {.rowLimit = options.limit});
    Table table;
    for (std::size_t c = 0; c < result.columns.size(); ++c) {
        const bool number = !result.rows.empty() && !std::holds_alternative<std::string>(result.rows.front()[c]);
        table.columns.push_back({result.columns[c], result.columns[c], number, !number});
    }
    for (const auto& row : result.rows) {
        std::vector<Cell> cells;
        for (const SqlValue& value : row)
            cells.push_back(cellOf(value));
        table.rows.push_back(std::move(cells));
    }
    emitResult(options.format, table, [&] {
        Json document{{"schema_version", kJsonSchema},
                      {"columns", result.columns},
                      {"rows", Json::array()},
                      {"truncated", result.truncated}};
        for (const auto& row : table.rows) {
            Json values = Json::array();
            for (const Cell& cell : row)
                values.push_back(cell.raw);
            document["rows"].push_back(std::move(values));
        }
        return document;
    });
    if (result.truncated)
        fmt::print(stderr, "fp8scope: only the first {} rows; --limit 0 prints all\n", options.limit);
}

}  // namespace

void addQueryCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<QueryOptions>();
    CLI::App* command = app.add_subcommand("query", "Run one read-only SQL statement on a trace");
    command->add_option("FILE", options->file, "The trace, or a file or folder of another profiler")
        ->required()
        ->option_text(" ");
    command->add_option("SQL", options->sql, "The statement; - reads it from standard input")
        ->required()
        ->option_text(" ");
    addFormatOption(*command, options->format);
    command->add_option("--limit", options->limit, "At most this many rows (0: all)")
        ->capture_default_str()
        ->option_text("N");
    command->footer("Tables and views are described in resources/help/trace-format.md. Example:\n"
                    "  fp8scope query demo.fp8trace \"select name, count(*), sum(dur_ns) from slice group by name\"");
    command->callback([options] { runQuery(*options); });
}

}  // namespace fp8scope::cli

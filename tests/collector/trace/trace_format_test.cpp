// SPDX-License-Identifier: Apache-2.0
// The format's documentation against the format: every table, view and column is described, and nothing else is.
#include "collector/trace/schema.h"
#include "collector/trace/trace_query.h"
#include "collector/trace/trace_writer.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

namespace fp8scope {
namespace {

using Columns = std::map<std::string, std::vector<std::string>>;

/// Of each "### name" the first cells of its table's rows: those in backquotes are columns.
Columns documentedColumns()
{
    std::ifstream help(FP8SCOPE_SOURCE_FOLDER "/resources/help/trace-format.md");
    Columns columns;
    std::string table;
    for (std::string line; std::getline(help, line);) {
        if (line.starts_with("#"))
            table = line.starts_with("### ") ? line.substr(4) : "";
        else if (!table.empty() && line.starts_with("| `"))
            columns[table].push_back(line.substr(3, line.find('`', 3) - 3));
    }
    return columns;
}

Columns columnsOfAFile()
{
    const test::TemporaryFolder folder;
    TraceWriter(folder / "a.fp8trace").close();
    TraceQuery query(folder / "a.fp8trace");
    Columns columns;
    const auto add = [&](std::string_view table) {
        for (const auto& row : query.run(fmt::format("PRAGMA table_info({})", table)).rows)
            columns[std::string(table)].push_back(std::get<std::string>(row[1]));
    };
    const QueryResult objects = query.run("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')");
    for (const auto& row : objects.rows)
        add(std::get<std::string>(row[0]));
    add("slice");
    return columns;
}

TEST(TraceFormat, EveryColumnIsDocumentedInOrder) { EXPECT_EQ(documentedColumns(), columnsOfAFile()); }

TEST(TraceFormat, TheDocumentedNumbersAreTheRealOnes)
{
    std::ifstream help(FP8SCOPE_SOURCE_FOLDER "/resources/help/trace-format.md");
    const std::string text{std::istreambuf_iterator<char>(help), {}};
    EXPECT_THAT(text, testing::HasSubstr(fmt::format("`application_id` {:#x}", kApplicationId)));
    EXPECT_THAT(text,
                testing::HasSubstr(fmt::format("`user_version` is the format's version, now {})", kSchemaVersion)));
}

}  // namespace
}  // namespace fp8scope

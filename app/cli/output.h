// SPDX-License-Identifier: Apache-2.0
// How the command prints: tables for people that fit 100 columns, the same rows as CSV, and JSON documents.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::cli {

enum class Format { Table, Json, Csv };

using Json = nlohmann::ordered_json;

/// What a table shows and what CSV writes for it: "64.5 ms" and 64512345.
struct Cell {
    std::string text;
    Json raw;
};

struct Column {
    std::string title;
    std::string key;       ///< CSV header, with the unit: "exposed_ns"
    bool right = true;     ///< right-aligned (numbers)
    bool elastic = false;  ///< shortened with "…" when the table would pass the width
    bool wrapped = false;  ///< a sentence: takes the width that is left and goes on in further lines; the last column
};

struct Table {
    std::string headline;  ///< printed above; names the origin of the figures
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
    std::vector<std::string> notes;  ///< printed below, wrapped; not in CSV
};

inline constexpr std::size_t kWidth = 100;

/// The table as text: no line is wider than kWidth as long as the elastic columns can give way.
[[nodiscard]] std::string renderTable(const Table&);
/// RFC 4180 rows with a header; raw values.
[[nodiscard]] std::string renderCsv(const Table&);
/// The same with a first column "run", for tables of several runs one after the other: only the first has the header.
[[nodiscard]] std::string renderCsvOfRun(Table, std::string_view run, bool withHeader);
/// Breaks a sentence into lines of at most kWidth columns, continuation lines indented.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t indent = 0);

[[nodiscard]] Cell textCell(std::string_view text);
[[nodiscard]] Cell countCell(std::uint64_t count);
/// A time in `unit` ("auto", "ns", "us", "ms", "s"); raw is integer ns.
[[nodiscard]] Cell timeCell(std::int64_t ns, std::string_view unit);
/// A share as percent; raw is the fraction.
[[nodiscard]] Cell shareCell(double share);

/// Columns that a terminal needs for UTF-8 text.
[[nodiscard]] std::size_t displayWidth(std::string_view text);

void print(std::string_view text);
void printJson(const Json& document);

}  // namespace fp8scope::cli

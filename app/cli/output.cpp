// SPDX-License-Identifier: Apache-2.0
#include "app/cli/output.h"

#include "app/analysis/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace fp8scope::cli {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr std::size_t kMinElastic = 12;
constexpr std::size_t kMinWrapped = 30;

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The longest prefix of at most `width` code points.
std::string_view prefix(std::string_view text, std::size_t width)
{
    std::size_t points = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (isContinuation(text[i]))
            continue;
        if (points++ == width)
            return text.substr(0, i);
    }
    return text;
}

/// Keeps the head and the tail: both ends of a kernel's name tell something.
std::string elide(std::string_view text, std::size_t width)
{
    if (displayWidth(text) <= width)
        return std::string(text);
    const std::size_t tailPoints = (width - 1) / 3;
    const std::size_t headPoints = width - 1 - tailPoints;
    std::size_t tailStart = text.size();
    for (std::size_t points = 0; points < tailPoints && tailStart > 0;) {
        --tailStart;
        if (!isContinuation(text[tailStart]))
            ++points;
    }
    return fmt::format("{}{}{}", prefix(text, headPoints), kEllipsis, text.substr(tailStart));
}

/// Words of a sentence in lines of at most `width` columns; inner runs of blanks stay.
std::vector<std::string> wordLines(std::string_view text, std::size_t width)
{
    std::vector<std::string> lines;
    std::string line;
    for (std::size_t pos = 0; pos < text.size();) {
        const std::size_t end = std::min(text.find(' ', pos), text.size());
        const std::string_view word = text.substr(pos, end - pos);
        if (!line.empty() && displayWidth(line) + 1 + displayWidth(word) > width) {
            lines.push_back(line);
            line.clear();
        }
        if (!line.empty())
            line += ' ';
        line += word;
        pos = end + 1;
    }
    if (!line.empty())
        lines.push_back(line);
    return lines;
}

std::vector<std::size_t> columnWidths(const Table& table)
{
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        std::size_t width = displayWidth(table.columns[c].title);
        for (const auto& row : table.rows)
            width = std::max(width, displayWidth(row[c].text));
        if (table.columns[c].wrapped) {
            const std::size_t used = std::accumulate(widths.begin(), widths.end(), 2 * widths.size());
            width = std::min(width, std::max(kMinWrapped, kWidth - std::min(kWidth, used)));
        }
        widths.push_back(width);
    }
    std::size_t total = 2 * (widths.empty() ? 0 : widths.size() - 1);
    for (const std::size_t w : widths)
        total += w;
    for (std::size_t c = 0; c < widths.size() && total > kWidth; ++c) {
        if (!table.columns[c].elastic)
            continue;
        const std::size_t reduced = std::max(kMinElastic, widths[c] - std::min(widths[c], total - kWidth));
        if (reduced < widths[c]) {
            total -= widths[c] - reduced;
            widths[c] = reduced;
        }
    }
    return widths;
}

void appendLine(std::string& out, const Table& table, const std::vector<std::size_t>& widths,
                const std::vector<std::string_view>& texts)
{
    std::string line;
    for (std::size_t c = 0; c < widths.size(); ++c) {
        const std::string text = elide(texts[c], widths[c]);
        const std::string padding(widths[c] - displayWidth(text), ' ');
        if (c > 0)
            line += "  ";
        line += table.columns[c].right ? padding + text : text + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
}

void appendRow(std::string& out, const Table& table, const std::vector<std::size_t>& widths,
               const std::vector<Cell>& row)
{
    std::vector<std::string_view> texts;
    for (const Cell& cell : row)
        texts.emplace_back(cell.text);
    if (!table.columns.back().wrapped || row.back().text.empty()) {
        appendLine(out, table, widths, texts);
        return;
    }
    for (const std::string& line : wordLines(row.back().text, widths.back())) {
        texts.back() = line;
        appendLine(out, table, widths, texts);
        std::fill(texts.begin(), texts.end(), std::string_view());
    }
}

std::string csvField(const Json& value)
{
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"')
            quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

}  // namespace

std::size_t displayWidth(std::string_view text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !isContinuation(c); }));
}

std::string wrap(std::string_view text, std::size_t indent)
{
    // Leading blanks are the first line's own indentation.
    const std::size_t start = std::min(text.find_first_not_of(' '), text.size());
    std::string out(text.substr(0, start));
    const std::vector<std::string> lines = wordLines(text.substr(start), kWidth - std::max(start, indent));
    for (std::size_t i = 0; i < lines.size(); ++i)
        out += (i > 0 ? std::string(indent, ' ') : std::string()) + lines[i] + '\n';
    return lines.empty() ? "\n" : out;
}

std::string renderTable(const Table& table)
{
    std::string out;
    if (!table.headline.empty())
        out += wrap(table.headline) + '\n';
    const std::vector<std::size_t> widths = columnWidths(table);
    std::vector<std::string_view> texts;
    for (const Column& column : table.columns)
        texts.emplace_back(column.title);
    appendLine(out, table, widths, texts);
    std::size_t total = 0;
    for (std::size_t c = 0; c < widths.size(); ++c)
        total += widths[c] + (c > 0 ? 2 : 0);
    out += std::string(total, '-') + '\n';
    for (const auto& row : table.rows)
        appendRow(out, table, widths, row);
    for (const std::string& note : table.notes)
        out += wrap(note);
    return out;
}

std::string renderCsv(const Table& table)
{
    std::string out;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
        out += (c > 0 ? "," : "") + csvField(table.columns[c].key);
    out += '\n';
    for (const auto& row : table.rows) {
        for (std::size_t c = 0; c < row.size(); ++c)
            out += (c > 0 ? "," : "") + csvField(row[c].raw);
        out += '\n';
    }
    return out;
}

std::string renderCsvOfRun(Table table, std::string_view run, bool withHeader)
{
    table.columns.insert(table.columns.begin(), {"run", "run", false});
    for (auto& row : table.rows)
        row.insert(row.begin(), textCell(run));
    const std::string csv = renderCsv(table);
    return withHeader ? csv : csv.substr(csv.find('\n') + 1);
}

Cell textCell(std::string_view text) { return {std::string(text), std::string(text)}; }
Cell countCell(std::uint64_t count) { return {fmt::format("{}", count), count}; }
Cell timeCell(std::int64_t ns, std::string_view unit) { return {analysis::formatTime(ns, unit), ns}; }
Cell shareCell(double share) { return {analysis::formatPercent(share), share}; }

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void printJson(const Json& document)
{
    // Names come from other people's programs: bytes that are not UTF-8 are replaced, not thrown at.
    print(document.dump(2, ' ', false, nlohmann::detail::error_handler_t::replace) + '\n');
}

}  // namespace fp8scope::cli

// SPDX-License-Identifier: Apache-2.0
// The report as Markdown: tables for the charts, so that it reads as plain text too.
#include "app/report/tables.h"

#include <fmt/format.h>

#include <cmath>

namespace fp8scope::report {
namespace {

/// Text in a paragraph or a cell: what Markdown or HTML would take for markup is escaped, line breaks become spaces.
std::string escaped(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
        case '|':
        case '*':
        case '_':
        case '`':
        case '#':
        case '[':
        case ']':
        case '\\': out += {'\\', c}; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '&': out += "&amp;"; break;
        case '\n':
        case '\r': out += ' '; break;
        default: out += c;
        }
    }
    return out;
}

std::string row(const std::vector<std::string>& cells)
{
    std::string out = "|";
    for (const std::string& cell : cells)
        out += " " + escaped(cell) + " |";
    return out + "\n";
}

std::string write(const Table& table)
{
    std::string out = table.title.empty() ? "" : "**" + escaped(table.title) + "**\n\n";
    out += row(table.columns) + "|";
    for (std::size_t c = 0; c < table.columns.size(); ++c)
        out += c < table.numeric.size() && table.numeric[c] ? "---:|" : "---|";
    out += "\n";
    for (const auto& cells : table.rows)
        out += row(cells);
    return out + "\n";
}

std::string write(const Heading& heading) { return "## " + escaped(heading.text) + "\n\n"; }

std::string write(const Paragraph& paragraph) { return escaped(analysis::plainText(paragraph.spans)) + "\n\n"; }

std::string write(const Figures& figures)
{
    Table table{.columns = {"Figure", "Value", ""}, .numeric = {false, true, false}};
    for (const analysis::Figure& f : figures.figures)
        table.rows.push_back({f.label, f.value, f.detail});
    return write(table);
}

std::string write(const FamilyBars&) { return ""; }  // the table that follows it holds the same figures

std::string write(const Waterfall& waterfall) { return write(accountTable(waterfall.account)); }

std::string line(std::string_view label, std::string_view text)
{
    return text.empty() ? ""
                        : fmt::format("  - {}{}\n", label.empty() ? "" : fmt::format("{}: ", label), escaped(text));
}

std::string write(const analysis::Finding& f)
{
    std::string out = fmt::format("- **{}**", escaped(f.title));
    if (f.gainNs > 0)
        out += fmt::format(": saves {} a step ({} to {})", analysis::formatTime(f.gainNs),
                           analysis::formatTime(std::llround(f.gain.low)),
                           analysis::formatTime(std::llround(f.gain.high)));
    out += "\n" + line("", f.why);
    for (const analysis::Evidence& e : f.evidence)
        out += line("Evidence", e.text);
    for (const analysis::ConfigPatch& p : f.change)
        out += fmt::format("  - Engine: `{} = {}`\n", p.key, p.value);
    for (const analysis::FrameworkOption& o : f.options)
        out += line(o.framework, o.option);
    return out + line("Estimate", f.formula) + line("Wrong if", f.wrongIf);
}

std::string write(const Advice& advice)
{
    std::string out;
    for (const analysis::Finding& f : advice.findings)
        out += write(f);
    return out + "\n";
}

}  // namespace

std::string toMarkdown(const Report& report)
{
    std::string out = "# " + escaped(report.title) + "\n\n";
    for (const auto& [name, value] : report.facts)
        out += fmt::format("- {}: {}\n", escaped(name), escaped(value));
    out += "\n";
    for (const Block& block : report.blocks)
        out += std::visit([](const auto& b) { return write(b); }, block);
    return out + "*" + escaped(report.originLine) + "*\n";
}

}  // namespace fp8scope::report

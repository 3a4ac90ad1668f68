// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that needs nothing else: style inside, charts as inline SVG, every text escaped.
#include "app/report/svg_charts.h"
#include "app/report/tables.h"

#include <fmt/format.h>

#include <cmath>

namespace fp8scope::report {
namespace {

constexpr std::string_view kStyle = R"css(
body{font:14px/1.5 system-ui,sans-serif;color:#1B1F24;background:#fff;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid #DFE3E8;padding-bottom:.2rem}
p.headline{font-size:1.1rem;font-weight:600}.good{color:#1A7F4B}.bad{color:#B42318}.cost{color:#B45309}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dt{color:#5B6570}dd{margin:0}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:12px}
.figure{background:#F6F7F9;border:1px solid #DFE3E8;border-radius:8px;padding:10px}
.figure b{display:block;font-size:1.35rem;font-variant-numeric:tabular-nums}.dim,.figure small{color:#5B6570}
table{border-collapse:collapse;margin:.6rem 0 1.2rem;font-variant-numeric:tabular-nums}caption{text-align:left;font-weight:600;padding-bottom:.3rem}
th,td{padding:.15rem .7rem .15rem 0;text-align:left;vertical-align:top;border-bottom:1px solid #DFE3E8}.n{text-align:right}
td{overflow-wrap:anywhere}svg{width:100%;height:auto;font:12px system-ui,sans-serif;fill:#1B1F24}
.finding{border:1px solid #DFE3E8;border-radius:8px;padding:10px 12px;margin:12px 0}.finding h3{margin:0;font-size:1rem}
footer{margin-top:2rem;color:#5B6570;border-top:1px solid #DFE3E8}
)css";

std::string_view toneClass(analysis::Tone tone)
{
    switch (tone) {
    case analysis::Tone::Good: return "good";
    case analysis::Tone::Bad: return "bad";
    case analysis::Tone::Cost: return "cost";
    case analysis::Tone::Plain: break;
    }
    return {};
}

std::string write(const Heading& heading) { return fmt::format("<h2>{}</h2>\n", htmlEscaped(heading.text)); }

std::string spans(const std::vector<analysis::TextSpan>& list)
{
    std::string out;
    for (const analysis::TextSpan& span : list) {
        const std::string_view tone = toneClass(span.tone);
        out += tone.empty() ? htmlEscaped(span.text)
                            : fmt::format("<span class=\"{}\">{}</span>", tone, htmlEscaped(span.text));
    }
    return out;
}

std::string write(const Paragraph& paragraph) { return fmt::format("<p>{}</p>\n", spans(paragraph.spans)); }

std::string write(const Figures& figures)
{
    std::string out = "<div class=\"figures\">\n";
    for (const analysis::Figure& f : figures.figures)
        out +=
            fmt::format("<div class=\"figure\" title=\"{}\">{}<b>{}</b><small>{}</small></div>\n",
                        htmlEscaped(f.howComputed), htmlEscaped(f.label), htmlEscaped(f.value), htmlEscaped(f.detail));
    return out + "</div>\n";
}

std::string tableRow(const std::vector<std::string>& cells, const std::vector<bool>& numeric, std::string_view tag)
{
    std::string out = "<tr>";
    for (std::size_t c = 0; c < cells.size(); ++c)
        out += fmt::format("<{}{}>{}</{}>", tag, c < numeric.size() && numeric[c] ? " class=\"n\"" : "",
                           htmlEscaped(cells[c]), tag);
    return out + "</tr>\n";
}

std::string write(const Table& table)
{
    std::string out = "<table>\n";
    if (!table.title.empty())
        out += fmt::format("<caption>{}</caption>\n", htmlEscaped(table.title));
    out += "<thead>" + tableRow(table.columns, table.numeric, "th") + "</thead>\n<tbody>\n";
    for (const auto& cells : table.rows)
        out += tableRow(cells, table.numeric, "td");
    return out + "</tbody></table>\n";
}

std::string write(const FamilyBars& chart) { return familyBarsSvg(chart); }

std::string write(const Waterfall& waterfall)
{
    return waterfallSvg(waterfall.account) + write(accountTable(waterfall.account));
}

std::string detail(std::string_view label, std::string_view text)
{
    return text.empty() ? "" : fmt::format("<div><span class=\"dim\">{}</span> {}</div>\n", label, htmlEscaped(text));
}

std::string write(const analysis::Finding& f)
{
    std::string gain = "<span class=\"dim\">note</span>";
    if (f.gainNs > 0)
        gain = fmt::format("<span class=\"good\">{}</span>", htmlEscaped(formatDelta(-f.gainNs)));
    std::string out = fmt::format("<div class=\"finding\"><h3>{} {}</h3>\n", gain, htmlEscaped(f.title));
    if (f.gainNs > 0)
        out += detail("between", fmt::format("{} and {} a step", analysis::formatTime(std::llround(f.gain.low)),
                                             analysis::formatTime(std::llround(f.gain.high))));
    out += fmt::format("<div>{}</div>\n", htmlEscaped(f.why));
    for (const analysis::Evidence& e : f.evidence)
        out += detail("evidence", e.text);
    for (const analysis::ConfigPatch& p : f.change)
        out += fmt::format("<div><span class=\"dim\">engine</span> <code>{} = {}</code></div>\n", htmlEscaped(p.key),
                           htmlEscaped(p.value));
    for (const analysis::FrameworkOption& o : f.options)
        out += detail(htmlEscaped(o.framework), o.option);
    return out + detail("estimate", f.formula) + detail("wrong if", f.wrongIf) + "</div>\n";
}

std::string write(const Advice& advice)
{
    std::string out;
    for (const analysis::Finding& f : advice.findings)
        out += write(f);
    return out;
}

}  // namespace

std::string toHtml(const Report& report)
{
    const std::string title = htmlEscaped(report.title);
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title><style>{}</style></head>\n"
        "<body>\n<h1>{}</h1>\n<dl class=\"facts\">\n",
        title, kStyle, title);
    for (const auto& [name, value] : report.facts)
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", htmlEscaped(name), htmlEscaped(value));
    out += "</dl>\n";
    for (const Block& block : report.blocks)
        out += std::visit([](const auto& b) { return write(b); }, block);
    return out + fmt::format("<footer>{}</footer>\n</body></html>\n", htmlEscaped(report.originLine));
}

}  // namespace fp8scope::report

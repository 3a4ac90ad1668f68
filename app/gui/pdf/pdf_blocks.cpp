// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pdf/pdf_blocks.h"

#include "app/gui/charts/family_chart.h"
#include "app/gui/charts/waterfall_chart.h"
#include "app/gui/text.h"

#include <QApplication>
#include <QTextDocument>

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

constexpr double kGap = 14;
constexpr int kWaterfallHeight = 250;
constexpr double kCardGap = 8;
constexpr double kCardPadding = 8;
constexpr std::size_t kCardsInRow = 4;
constexpr double kFirstLines = 110;  // of a table, a paragraph, a finding
constexpr int kUnitAndLegend = 90;
constexpr double kGainWidth = 84;
constexpr double kLabelWidth = 112;

QString words(const char* text) { return QApplication::translate("Report", text); }

/// The unit above a chart; its title is the report's heading.
void chartUnit(PdfPage& page, const QString& unit)
{
    page.line(QRectF(page.left(), page.y(), page.width(), 14), unit, PdfPage::font(11), lightTheme().dim,
              Qt::AlignLeft);
    page.advance(18);
}

void drawChart(PdfPage& page, ChartWidget& chart, int height)
{
    chart.render(page.painter(), QRectF(page.left(), page.y(), page.width(), height).toRect());
    page.advance(height + kGap);
}

/// Swatches and names of the families in a row or more.
void drawLegend(PdfPage& page, const std::vector<Family>& families)
{
    constexpr int kColumns = 5;
    constexpr double kRow = 16;
    const Theme& theme = lightTheme();
    const double columnWidth = page.width() / kColumns;
    for (std::size_t i = 0; i < families.size(); ++i) {
        const double x = page.left() + static_cast<double>(i % kColumns) * columnWidth;
        const double y = page.y() + static_cast<double>(i / kColumns) * kRow;
        page.painter().setPen(QPen(theme.family(families[i]), 0.75));
        page.painter().setBrush(theme.familyBrush(families[i]));
        page.painter().drawRect(QRectF(x, y + 3, 9, 9));
        page.line(QRectF(x + 15, y, columnWidth - 18, 15), familyText(families[i]), PdfPage::font(10), theme.dim,
                  Qt::AlignLeft);
    }
    page.advance(std::ceil(static_cast<double>(families.size()) / kColumns) * kRow + kGap);
}

/// So many that the last row is not nearly empty.
std::size_t cardsInRow(std::size_t count)
{
    if (count <= kCardsInRow)
        return std::max<std::size_t>(1, count);
    const std::size_t last = count % kCardsInRow;
    return last == 0 || last == kCardsInRow - 1 ? kCardsInRow : kCardsInRow - 1;
}

double cardHeight(const PdfPage& page, const analysis::Figure& figure, double width)
{
    return 42 + page.textHeight(width, toQt(figure.detail), PdfPage::font(9)) + 2 * kCardPadding;
}

void drawCard(PdfPage& page, const analysis::Figure& figure, const QRectF& card)
{
    const Theme& theme = lightTheme();
    page.painter().setPen(QPen(theme.line, 0.75));
    page.painter().setBrush(theme.panel);
    page.painter().drawRoundedRect(card, 5, 5);
    const QRectF inner = card.adjusted(kCardPadding, kCardPadding, -kCardPadding, -kCardPadding);
    page.line(QRectF(inner.left(), inner.top(), inner.width(), 13), toQt(figure.label), PdfPage::font(10), theme.dim,
              Qt::AlignLeft);
    page.line(QRectF(inner.left(), inner.top() + 14, inner.width(), 24), toQt(figure.value), PdfPage::font(17, true),
              theme.text, Qt::AlignLeft);
    page.text(QRectF(inner.left(), inner.top() + 40, inner.width(), inner.height()), toQt(figure.detail),
              PdfPage::font(9), theme.dim);
}

/// The lines of a finding below its title: label and text.
std::vector<std::pair<QString, QString>> findingLines(const analysis::Finding& finding)
{
    std::vector<std::pair<QString, QString>> lines;
    const auto add = [&](const QString& label, const QString& text) {
        if (!text.isEmpty())
            lines.emplace_back(label, text);
    };
    add(words("Why"), toQt(finding.why));
    for (const analysis::Evidence& evidence : finding.evidence)
        add(&evidence == &finding.evidence.front() ? words("Evidence") : QString(), toQt(evidence.text));
    add(words("Interval"), finding.gainNs != 0 ? gainIntervalText(finding.gain) : QString());
    add(words("Estimated as"), toQt(finding.formula));
    add(words("Wrong if"), toQt(finding.wrongIf));
    QStringList change;
    for (const analysis::ConfigPatch& patch : finding.change)
        change.append(toQt(patch.key) + u" = "_s + toQt(patch.value));
    add(words("In the engine"), change.join(u", "_s));
    for (const analysis::FrameworkOption& option : finding.options)
        add(toQt(option.framework), toQt(option.option));
    return lines;
}

void drawFinding(PdfPage& page, const analysis::Finding& finding)
{
    const Theme& theme = lightTheme();
    const QFont title = PdfPage::font(12, true);
    const QFont text = PdfPage::font(10);
    const double x = page.left() + kGainWidth;
    const double width = page.width() - kGainWidth;
    const auto lines = findingLines(finding);
    double height = page.textHeight(width, toQt(finding.title), title) + 4;
    for (const auto& [label, value] : lines)
        height += page.textHeight(width - kLabelWidth, value, text) + 3;
    page.ensure(height);

    page.line(QRectF(page.left(), page.y(), kGainWidth - 12, 16), gainText(finding.gainNs), title,
              finding.gainNs > 0 ? theme.good : theme.dim, Qt::AlignRight);
    page.advance(page.text(QRectF(x, page.y(), width, 0), toQt(finding.title), title, theme.text) + 4);
    for (const auto& [label, value] : lines) {
        page.ensure(page.textHeight(width - kLabelWidth, value, text));
        page.line(QRectF(x, page.y(), kLabelWidth - 6, 13), label, text, theme.dim, Qt::AlignLeft);
        page.advance(page.text(QRectF(x + kLabelWidth, page.y(), width - kLabelWidth, 0), value, text, theme.text) + 3);
    }
    page.advance(10);
}

}  // namespace

double firstHeight(const report::Block& block)
{
    if (std::holds_alternative<report::Waterfall>(block))
        return kWaterfallHeight + 30;
    if (const auto* bars = std::get_if<report::FamilyBars>(&block))
        return FamilyChart::heightFor(bars->bars.size()) + kUnitAndLegend;
    return kFirstLines;
}

void drawTitle(PdfPage& page, const report::Report& report)
{
    const Theme& theme = lightTheme();
    page.advance(page.text(QRectF(page.left(), page.y(), page.width(), 0), toQt(report.title), PdfPage::font(22, true),
                           theme.text) +
                 8);
    const QFont font = PdfPage::font(11);
    for (const auto& [name, value] : report.facts) {
        const double height = page.textHeight(page.width() - kLabelWidth, toQt(value), font);
        page.ensure(height);
        page.line(QRectF(page.left(), page.y(), kLabelWidth - 6, 14), toQt(name), font, theme.dim, Qt::AlignLeft);
        page.text(QRectF(page.left() + kLabelWidth, page.y(), page.width() - kLabelWidth, 0), toQt(value), font,
                  theme.text);
        page.advance(height + 3);
    }
    page.advance(10);
    page.rule(page.y(), theme.line);
    page.advance(kGap);
}

void draw(PdfPage& page, const report::Heading& heading)
{
    if (!page.atTop())
        page.advance(6);
    page.line(QRectF(page.left(), page.y(), page.width(), 20), toQt(heading.text), PdfPage::font(15, true),
              lightTheme().text, Qt::AlignLeft);
    page.advance(26);
}

void draw(PdfPage& page, const report::Paragraph& paragraph)
{
    QTextDocument document;
    document.setDocumentMargin(0);
    document.setDefaultFont(PdfPage::font(12));
    document.setDefaultStyleSheet(u"body { color: %1; }"_s.arg(lightTheme().text.name()));
    document.setHtml(u"<body>"_s + richText(paragraph.spans, lightTheme()) + u"</body>"_s);
    document.setTextWidth(page.width());
    const double height = document.size().height();
    page.ensure(height);
    page.painter().save();
    page.painter().translate(QPointF(page.left(), page.y()));
    document.drawContents(&page.painter());
    page.painter().restore();
    page.advance(height + 10);
}

void draw(PdfPage& page, const report::Figures& figures)
{
    const auto& all = figures.figures;
    const std::size_t inRow = cardsInRow(all.size());
    const double width = (page.width() - kCardGap * static_cast<double>(inRow - 1)) / static_cast<double>(inRow);
    for (std::size_t first = 0; first < all.size(); first += inRow) {
        const std::size_t count = std::min(inRow, all.size() - first);
        double height = 0;
        for (std::size_t i = first; i < first + count; ++i)
            height = std::max(height, cardHeight(page, all[i], width - 2 * kCardPadding));
        page.ensure(height);
        for (std::size_t i = 0; i < count; ++i) {
            const double x = page.left() + static_cast<double>(i) * (width + kCardGap);
            drawCard(page, all[first + i], QRectF(x, page.y(), width, height));
        }
        page.advance(height + kCardGap);
    }
    page.advance(kGap - kCardGap);
}

void draw(PdfPage& page, const report::FamilyBars& bars)
{
    if (bars.bars.empty())
        return;
    FamilyChart chart;
    chart.setBars(bars);
    page.ensure(chart.preferredHeight() + kUnitAndLegend);
    chartUnit(page, words("exposed %1 a step").arg(chart.unit()));
    drawChart(page, chart, chart.preferredHeight());
    drawLegend(page, chart.shownFamilies());
}

void draw(PdfPage& page, const report::Waterfall& waterfall)
{
    WaterfallChart chart;
    chart.setAccount(waterfall.account);
    page.ensure(kWaterfallHeight + 30);
    chartUnit(page, words("from %1 to %2, %3 a step")
                        .arg(toQt(waterfall.account.fromMode), toQt(waterfall.account.toMode), chart.unit()));
    drawChart(page, chart, kWaterfallHeight);
}

void draw(PdfPage& page, const report::Advice& advice)
{
    for (const analysis::Finding& finding : advice.findings)
        drawFinding(page, finding);
}

}  // namespace fp8scope::gui

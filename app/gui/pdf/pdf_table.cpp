// SPDX-License-Identifier: GPL-3.0-or-later
// Tables on paper: columns as wide as their content, the widest text column gives way, rows never split, words wrap.
#include "app/gui/pdf/pdf_blocks.h"

#include "app/gui/text.h"
#include "app/gui/theme.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fp8scope::gui {

namespace {

constexpr double kRowHeight = 16;
constexpr double kColumnGap = 12;
constexpr double kSmallestColumn = 36;
constexpr int kMostLines = 3;

struct Layout {
    std::vector<double> widths;
    QFont font;
};

bool isNumeric(const report::Table& table, std::size_t column)
{
    return column < table.numeric.size() && table.numeric[column];
}

Layout layOut(const report::Table& table, double width, int pixelSize)
{
    Layout layout{{}, PdfPage::font(pixelSize)};
    const QFontMetricsF metrics(layout.font);
    const QFontMetricsF bold(PdfPage::font(pixelSize, true));
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        double widest = bold.horizontalAdvance(toQt(table.columns[c]));
        for (const auto& row : table.rows)
            if (c < row.size())
                widest = std::max(widest, metrics.horizontalAdvance(toQt(row[c])));
        layout.widths.push_back(widest + kColumnGap);
    }
    // Text columns give way, the widest first, until all fit; numbers stay whole.
    double over = std::accumulate(layout.widths.begin(), layout.widths.end(), 0.0) - width;
    while (over > 0.5) {
        std::size_t widest = table.columns.size();
        for (std::size_t c = 0; c < layout.widths.size(); ++c)
            if (!isNumeric(table, c) && layout.widths[c] > kSmallestColumn &&
                (widest == table.columns.size() || layout.widths[c] > layout.widths[widest]))
                widest = c;
        if (widest == table.columns.size())
            break;
        const double cut = std::min(over, std::max(1.0, std::min(8.0, layout.widths[widest] - kSmallestColumn)));
        layout.widths[widest] -= cut;
        over -= cut;
    }
    return layout;
}

/// The largest font with which the numbers fit.
Layout bestLayout(const report::Table& table, double width)
{
    constexpr int kLargest = 10;
    constexpr int kSmallest = 7;
    for (int size = kLargest; size > kSmallest; --size) {
        Layout layout = layOut(table, width, size);
        if (std::accumulate(layout.widths.begin(), layout.widths.end(), 0.0) <= width + 1)
            return layout;
    }
    return layOut(table, width, kSmallest);
}

/// Lines that a cell takes: words are wrapped, up to a few lines; what would take more (a kernel's name of 4,000
/// characters) is elided on one.
int linesOf(const PdfPage& page, const QString& text, double width, const QFont& font)
{
    const QFontMetricsF metrics(font);
    if (metrics.horizontalAdvance(text) <= width)
        return 1;
    const auto lines = static_cast<int>(std::lround(page.textHeight(width, text, font) / metrics.lineSpacing()));
    const QRectF needed = metrics.boundingRect(QRectF(0, 0, width, 1e6), Qt::TextWordWrap, text);
    return lines <= kMostLines && needed.width() <= width + 1 ? lines : 1;
}

double rowHeight(const PdfPage& page, const report::Table& table, const Layout& layout,
                 const std::vector<std::string>& cells)
{
    int lines = 1;
    for (std::size_t c = 0; c < layout.widths.size() && c < cells.size(); ++c)
        if (!isNumeric(table, c))
            lines = std::max(lines, linesOf(page, toQt(cells[c]), layout.widths[c] - kColumnGap, layout.font));
    return kRowHeight + (lines - 1) * QFontMetricsF(layout.font).lineSpacing();
}

void drawCells(PdfPage& page, const report::Table& table, const Layout& layout, const std::vector<std::string>& cells,
               const QFont& font, const QColor& colour)
{
    double x = page.left();
    for (std::size_t c = 0; c < layout.widths.size() && c < cells.size(); ++c) {
        const QString text = toQt(cells[c]);
        const double width = layout.widths[c] - kColumnGap;
        const QRectF area(x, page.y(), width, kRowHeight);
        if (isNumeric(table, c))
            page.line(area.adjusted(-2, 0, 0, 0), text, font, colour, Qt::AlignRight);
        else if (linesOf(page, text, width, font) > 1)
            page.text(area.adjusted(0, 2, 1, 0), text, font, colour);
        else
            page.line(area.adjusted(0, 0, 1, 0), text, font, colour, Qt::AlignLeft, Qt::ElideMiddle);
        x += layout.widths[c];
    }
    page.advance(rowHeight(page, table, layout, cells));
}

void drawHeader(PdfPage& page, const report::Table& table, const Layout& layout)
{
    if (std::all_of(table.columns.begin(), table.columns.end(), [](const std::string& name) { return name.empty(); }))
        return;
    QFont bold = layout.font;
    bold.setBold(true);
    drawCells(page, table, layout, table.columns, bold, lightTheme().dim);
    page.rule(page.y(), lightTheme().line);
    page.advance(2);
}

}  // namespace

void draw(PdfPage& page, const report::Table& table)
{
    const Layout layout = bestLayout(table, page.width());
    page.ensure(22 + kRowHeight * static_cast<double>(std::min<std::size_t>(5, table.rows.size() + 2)));
    if (!table.title.empty()) {
        page.line(QRectF(page.left(), page.y(), page.width(), 16), toQt(table.title), PdfPage::font(12, true),
                  lightTheme().text, Qt::AlignLeft);
        page.advance(20);
    }
    drawHeader(page, table, layout);
    for (const auto& row : table.rows) {
        if (page.ensure(rowHeight(page, table, layout, row)))
            drawHeader(page, table, layout);
        drawCells(page, table, layout, row, layout.font, lightTheme().text);
    }
    page.advance(14);
}

}  // namespace fp8scope::gui

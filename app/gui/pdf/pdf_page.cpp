// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pdf/pdf_page.h"

#include "app/gui/theme.h"

#include <QApplication>
#include <QPageSize>

namespace fp8scope::gui {

namespace {

// CSS pixels, 96 to the inch. A4 is 793.7 x 1122.5.
constexpr double kPageWidth = 793.7;
constexpr double kPageHeight = 1122.5;
constexpr double kSide = 52;
constexpr double kTop = 48;
constexpr double kBottom = 58;
constexpr int kDotsPerPixel = 10;  // so that coordinates that are not whole stay exact

}  // namespace

PdfPage::PdfPage(QIODevice& device, const QString& title, const QString& originLine, int pageCount)
    : m_writer(&device), m_title(title), m_originLine(originLine), m_pageCount(pageCount)
{
    m_writer.setPageSize(QPageSize(QPageSize::A4));
    m_writer.setPageMargins(QMarginsF());
    m_writer.setResolution(96 * kDotsPerPixel);
    m_writer.setTitle(title);
    m_writer.setCreator(QStringLiteral("fp8scope"));
    m_painter.begin(&m_writer);
    m_painter.scale(kDotsPerPixel, kDotsPerPixel);
    startPage();
}

PdfPage::~PdfPage() { m_painter.end(); }

double PdfPage::left() const { return kSide; }

double PdfPage::width() const { return kPageWidth - 2 * kSide; }

double PdfPage::spaceLeft() const { return kPageHeight - kBottom - m_y; }

bool PdfPage::atTop() const { return m_y <= kTop; }

bool PdfPage::ensure(double height)
{
    if (height <= spaceLeft() || atTop())
        return false;
    m_writer.newPage();
    startPage();
    return true;
}

void PdfPage::startPage()
{
    ++m_pages;
    m_y = kTop;
    drawFoot();
}

void PdfPage::drawFoot()
{
    const Theme& theme = lightTheme();
    const double y = kPageHeight - kBottom + 16;
    rule(y, theme.line);
    const QRectF foot(left(), y + 6, width(), 14);
    line(foot.adjusted(0, 0, -90, 0), m_title + QStringLiteral("  \u00b7  ") + m_originLine, font(10), theme.dim,
         Qt::AlignLeft);
    const QString number = m_pageCount > 0 ? QApplication::translate("Report", "%1 of %2").arg(m_pages).arg(m_pageCount)
                                           : QString::number(m_pages);
    line(foot, number, font(10), theme.dim, Qt::AlignRight);
}

QFont PdfPage::font(int pixelSize, bool bold)
{
    QFont result = QApplication::font();
    result.setPixelSize(pixelSize);
    result.setBold(bold);
    result.setHintingPreference(QFont::PreferNoHinting);
    // Any spacing turns ligatures off: who searches the report for "first" would not find it written with one.
    result.setLetterSpacing(QFont::AbsoluteSpacing, 0.02);
    return result;
}

double PdfPage::textHeight(double width, const QString& text, const QFont& font) const
{
    return QFontMetricsF(font).boundingRect(QRectF(0, 0, width, 1e6), Qt::TextWordWrap, text).height();
}

double PdfPage::text(const QRectF& area, const QString& text, const QFont& font, const QColor& colour,
                     Qt::Alignment alignment)
{
    const double height = textHeight(area.width(), text, font);
    m_painter.setFont(font);
    m_painter.setPen(colour);
    m_painter.drawText(QRectF(area.topLeft(), QSizeF(area.width(), height + 4)),
                       static_cast<int>(alignment | Qt::AlignTop) | Qt::TextWordWrap, text);
    return height;
}

void PdfPage::line(const QRectF& area, const QString& text, const QFont& font, const QColor& colour,
                   Qt::Alignment alignment, Qt::TextElideMode elide)
{
    m_painter.setFont(font);
    m_painter.setPen(colour);
    m_painter.drawText(area, static_cast<int>(alignment | Qt::AlignVCenter),
                       QFontMetricsF(font).elidedText(text, elide, area.width()));
}

void PdfPage::rule(double y, const QColor& colour)
{
    m_painter.setPen(QPen(colour, 0.75));
    m_painter.drawLine(QLineF(left(), y, left() + width(), y));
}

}  // namespace fp8scope::gui

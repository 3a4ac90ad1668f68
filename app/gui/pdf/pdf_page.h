// SPDX-License-Identifier: GPL-3.0-or-later
// A4 pages in CSS pixels: where the next thing goes, when a page is full, and what stands on every page.
#pragma once

#include "app/gui/qcustomplot.h"

#include <QFont>
#include <QPdfWriter>
#include <QRectF>
#include <QString>

class QIODevice;

namespace fp8scope::gui {

class PdfPage {
public:
    /// `pageCount`: for "3 of 7"; 0 where it is not known yet (a trial run that only counts).
    PdfPage(QIODevice& device, const QString& title, const QString& originLine, int pageCount);
    ~PdfPage();
    PdfPage(const PdfPage&) = delete;
    PdfPage& operator=(const PdfPage&) = delete;

    [[nodiscard]] QCPPainter& painter() { return m_painter; }
    [[nodiscard]] int pages() const { return m_pages; }
    [[nodiscard]] double left() const;
    [[nodiscard]] double width() const;
    /// Where the next thing starts.
    [[nodiscard]] double y() const { return m_y; }
    void advance(double height) { m_y += height; }
    [[nodiscard]] double spaceLeft() const;
    /// Starts a page unless `height` fits on this one. True if it did.
    bool ensure(double height);
    [[nodiscard]] bool atTop() const;

    /// Text in a rectangle, wrapped; returns the height that it takes.
    double text(const QRectF& area, const QString& text, const QFont& font, const QColor& colour,
                Qt::Alignment alignment = Qt::AlignLeft);
    [[nodiscard]] double textHeight(double width, const QString& text, const QFont& font) const;
    /// One line, elided with … at `width`.
    void line(const QRectF& area, const QString& text, const QFont& font, const QColor& colour, Qt::Alignment alignment,
              Qt::TextElideMode elide = Qt::ElideRight);
    void rule(double y, const QColor& colour);

    [[nodiscard]] static QFont font(int pixelSize, bool bold = false);

private:
    void startPage();
    void drawFoot();

    QPdfWriter m_writer;
    QCPPainter m_painter;
    QString m_title;
    QString m_originLine;
    int m_pageCount;
    int m_pages = 0;
    double m_y = 0;
};

}  // namespace fp8scope::gui

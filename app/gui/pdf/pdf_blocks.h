// SPDX-License-Identifier: GPL-3.0-or-later
// How each kind of a report's blocks is drawn on pages. One overload a kind; each leaves the page's position below
// itself.
#pragma once

#include "app/gui/pdf/pdf_page.h"
#include "app/report/report.h"

namespace fp8scope::gui {

/// The space that a block's first part takes: what must fit below a heading that stands before it.
[[nodiscard]] double firstHeight(const report::Block& block);

void drawTitle(PdfPage& page, const report::Report& report);
void draw(PdfPage& page, const report::Heading& heading);
void draw(PdfPage& page, const report::Paragraph& paragraph);
void draw(PdfPage& page, const report::Figures& figures);
void draw(PdfPage& page, const report::FamilyBars& bars);
void draw(PdfPage& page, const report::Waterfall& waterfall);
void draw(PdfPage& page, const report::Advice& advice);
/// Breaks over pages between rows and repeats the header (pdf_table.cpp).
void draw(PdfPage& page, const report::Table& table);

}  // namespace fp8scope::gui

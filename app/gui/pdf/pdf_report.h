// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a report as a PDF: A4, text and vectors only, origin and page number on every page.
#pragma once

#include "app/gui/context.h"
#include "app/report/report.h"

#include <QString>

namespace fp8scope::gui {

/// Writes the file and returns its number of pages. Needs a QApplication (the charts are widgets), but no display: the
/// offscreen platform will do. GUI thread only. Throws Error if the file cannot be written.
int writePdf(const report::Report& report, const QString& path);

/// The report of an open trace; `madeAt` is an ISO date.
[[nodiscard]] report::Report reportOf(const LoadedTrace& loaded, const QString& madeAt);

}  // namespace fp8scope::gui

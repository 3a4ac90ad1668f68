// SPDX-License-Identifier: GPL-3.0-or-later
// `fp8scope-gui --export-pdf OUT FILE...`: loads, asks, writes, says what was written.
#pragma once

#include <QStringList>

namespace fp8scope::gui {

/// One file: OUT is the PDF (or an existing folder). Several: OUT is a folder, made if need be, and each PDF is named
/// after its trace. Prints a line a file. The exit code: 0, 1 when a file failed, 2 for wrong usage.
[[nodiscard]] int exportReports(const QString& out, const QStringList& files);

}  // namespace fp8scope::gui

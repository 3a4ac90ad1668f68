// SPDX-License-Identifier: GPL-3.0-or-later
// What the app's tests share: a small trace of three runs whose figures can be checked by hand, and waiting for
// signals.
#pragma once

#include "app/gui/context.h"

#include <QAbstractItemModel>
#include <QString>

#include <functional>
#include <memory>

namespace fp8scope::gui::test {

/// Two layers ("in", "out"), runs bf16, fp8 and fp8-fused of six equal steps each, on a GPU with fp8 units:
/// bf16: GEMM 40 us a layer; fp8: GEMM 20 us and a cast of 10 us a layer, 5 us idle; fp8-fused: GEMM 20 us, cast 4 us.
[[nodiscard]] Trace smallTrace();
/// With its overview, as the worker makes it; `path` is only a name.
[[nodiscard]] std::shared_ptr<const LoadedTrace> loadedOf(Trace trace,
                                                          const QString& path = QStringLiteral("/tmp/small.fp8trace"));

/// The model as text: a header line and a line a row, cells between " | ".
[[nodiscard]] QString printed(const QAbstractItemModel& model);

/// Runs the event loop until `condition` holds; false after a generous while.
[[nodiscard]] bool waitFor(const std::function<bool()>& condition);

}  // namespace fp8scope::gui::test

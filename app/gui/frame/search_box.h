// SPDX-License-Identifier: GPL-3.0-or-later
// The search field of the top bar: layers, ops and kernels by part of their name; Enter selects and goes to the
// timeline.
#pragma once

#include "app/gui/context.h"
#include "app/gui/doors.h"

#include <QLineEdit>
#include <QStringListModel>

#include <vector>

class QCompleter;

namespace fp8scope::gui {

class SearchBox : public QLineEdit {
    Q_OBJECT
public:
    explicit SearchBox(Context* context, QWidget* parent = nullptr);
    /// What can be found: "layer0  layer, bf16", "nvjet_qqtst  kernel, fp8".
    [[nodiscard]] QStringList entries() const { return m_entries.stringList(); }

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void refill();
    void go(const QString& entry);

    Context* m_context;
    QStringListModel m_entries;
    std::vector<Door> m_doors;  ///< beside the entries
    QCompleter* m_completer;
};

}  // namespace fp8scope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
// The top bar: the open file (with the file menu), its runs as toggles, and search.
#pragma once

#include "app/gui/context.h"

#include <QFrame>

#include <vector>

class QHBoxLayout;
class QLabel;
class QMenu;
class QPushButton;

namespace fp8scope::gui {

class SearchBox;

class TopBar : public QFrame {
    Q_OBJECT
public:
    /// `fileMenu` opens under the file's name; not owned.
    TopBar(Context* context, QMenu* fileMenu, QWidget* parent = nullptr);
    [[nodiscard]] SearchBox* search() const { return m_search; }
    [[nodiscard]] const std::vector<QPushButton*>& runToggles() const { return m_toggles; }

private:
    void refill();
    void addToggle(RunId run);

    Context* m_context;
    QPushButton* m_file;
    QLabel* m_runs;
    QHBoxLayout* m_toggleRow;
    std::vector<QPushButton*> m_toggles;
    SearchBox* m_search;
};

}  // namespace fp8scope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
// The Layers page: which layer costs what in each run.
#pragma once

#include "app/gui/context.h"

#include <QWidget>

namespace fp8scope::gui {

class LayersModel;
class TableView;

class LayersPage : public QWidget {
    Q_OBJECT
public:
    explicit LayersPage(Context* context, QWidget* parent = nullptr);
    [[nodiscard]] TableView* view() const { return m_view; }

private:
    void refill();
    void showSelection();
    void choose(int row, int column);
    void jump(int row, int column);
    [[nodiscard]] RunId runAt(int row, int column) const;

    Context* m_context;
    LayersModel* m_model;
    TableView* m_view;
};

}  // namespace fp8scope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
// The Kernels page: every distinct kernel (op) of the runs, per step and per call.
#pragma once

#include "app/gui/context.h"

#include <QWidget>

namespace fp8scope::gui {

class KernelsModel;
class TableView;

class KernelsPage : public QWidget {
    Q_OBJECT
public:
    explicit KernelsPage(Context* context, QWidget* parent = nullptr);
    [[nodiscard]] TableView* view() const { return m_view; }

private:
    void refill();
    void showSelection();

    Context* m_context;
    KernelsModel* m_model;
    TableView* m_view;
};

}  // namespace fp8scope::gui

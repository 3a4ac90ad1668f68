// SPDX-License-Identifier: GPL-3.0-or-later
// The speedup account as a waterfall: from one run's step to another's, bars that add up. Used by the overview and the
// PDF.
#pragma once

#include "app/analysis/account.h"
#include "app/gui/charts/chart_widget.h"

#include <optional>
#include <vector>

namespace fp8scope::gui {

class WaterfallChart : public ChartWidget {
    Q_OBJECT
public:
    /// The column of all bars that are too small for one of their own.
    static constexpr int kSmallBars = -2;

    explicit WaterfallChart(QWidget* parent = nullptr);

    void setAccount(const analysis::SpeedupAccount& account);
    [[nodiscard]] QString unit() const { return m_unit.name; }
    /// Index of the account's bar at a place; -1 and bars.size() are the two steps, kSmallBars the merged ones.
    [[nodiscard]] std::optional<int> hitAt(const QPointF& place) const;

signals:
    /// -1: the first step, bars.size(): the last, kSmallBars: several.
    void clicked(int bar);

protected:
    void restyle(const Theme& theme) override;
    void prepare(int width) override;
    [[nodiscard]] QString tooltipAt(const QPointF& place) const override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    /// One column: a whole step (both totals) or a change from `fromNs` to `toNs`.
    struct Column {
        QString name;
        double fromNs = 0, toNs = 0;
        int account = 0;  ///< what hitAt says
        QString tooltip;
        QCPBars* bar = nullptr;
        QCPItemText* label = nullptr;
    };
    [[nodiscard]] const Column* columnAt(const QPointF& place) const;
    void addColumn(Column column);
    [[nodiscard]] bool isStep(const Column& column) const;
    /// The columns of the account's bars, from `level` on; returns the level after them.
    double addBars(double level);
    void setRanges();

    analysis::SpeedupAccount m_account;
    TimeUnit m_unit;
    std::vector<Column> m_columns;
    std::vector<QCPItemLine*> m_connectors;
};

}  // namespace fp8scope::gui

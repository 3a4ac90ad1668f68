// SPDX-License-Identifier: GPL-3.0-or-later
// "In the range": the selected range, or without one what is seen, as a table by family. Counts and busy times follow
// the view at once; exposed times come from a worker, where a newer request supersedes an older one.
#pragma once

#include "app/gui/panel.h"
#include "app/gui/timeline/range_aggregate.h"

#include <QAbstractTableModel>
#include <QTimer>

#include <optional>
#include <thread>

class QTableView;

namespace fp8scope::gui {

class RangeModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { FamilyColumn, Count, Busy, Exposed, Share, Mean, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    /// Shows the families that have slices or exposed time. Without `exposed` those two columns show a dash.
    void setFamilies(const FamilyTotals& totals, const std::optional<ExposedFamilies>& exposed);
    [[nodiscard]] Family family(int row) const { return m_rows[static_cast<std::size_t>(row)]; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    [[nodiscard]] QString text(Family family, int column) const;

    std::vector<Family> m_rows;
    FamilyTotals m_totals;
    std::optional<ExposedFamilies> m_exposed;
};

class RangePanel : public Panel {
    Q_OBJECT
public:
    /// Beyond this many slices exposed times are not computed: narrow the range.
    static constexpr std::uint64_t kMostExposedSlices = 1'000'000;

    RangePanel(Context* context, const TimelineIndex* index, QWidget* parent = nullptr);

    /// What to show while no range is selected.
    void setVisibleSpan(TimeSpan span);
    [[nodiscard]] const RangeModel& model() const { return m_model; }

private:
    void refresh();
    void requestExposed();
    void acceptExposed(std::uint64_t generation, const ExposedFamilies& exposed);

    Context* m_context;
    const TimelineIndex* m_index;
    TimeSpan m_visible;
    TimeSpan m_shown;
    FamilyTotals m_totals;
    std::vector<RunId> m_runs;
    RangeModel m_model;
    QTableView* m_table;
    QTimer m_quiet;                  ///< the worker is asked when the view has come to rest
    std::uint64_t m_generation = 0;  ///< of the last request; older answers are dropped
    bool m_working = false;
    bool m_askAgain = false;
    std::jthread m_worker;  ///< last: joined before the rest goes
};

}  // namespace fp8scope::gui

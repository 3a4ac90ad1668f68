// SPDX-License-Identifier: GPL-3.0-or-later
// The Layers table: one row a layer of the model, one group of columns a run, so that runs compare side by side.
#pragma once

#include "app/gui/context.h"
#include "app/gui/tables/table_model.h"

#include <memory>
#include <vector>

namespace fp8scope::gui {

class LayersModel : public TableModel {
    Q_OBJECT
public:
    using TableModel::TableModel;

    /// Shows these runs of the trace, in this order; nullptr empties the table.
    void setTrace(std::shared_ptr<const LoadedTrace> loaded, std::vector<RunId> runs);

    /// The layer of a row in a run; none() where the run has no such layer, or the row is that of no layer.
    [[nodiscard]] LayerId layerAt(int row, RunId run) const;
    /// The row that shows a layer of any run, -1 if none does.
    [[nodiscard]] int rowOf(LayerId layer) const;
    /// The run whose column group a column belongs to; none() for the leading columns.
    [[nodiscard]] RunId runOfColumn(int column) const;
    [[nodiscard]] const std::vector<RunId>& runs() const { return m_runs; }

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_rows.size()); }
    [[nodiscard]] const std::vector<Column>& columns() const override { return m_columns; }
    [[nodiscard]] Cell cell(int row, int column) const override;

private:
    /// One layer by its name, with its time in each run of m_runs (nullptr where the run lacks it).
    struct Row {
        QString name;
        QString shape;
        std::int64_t weights = 0;  ///< sort key of the shape
        std::vector<const analysis::LayerTime*> times;
    };
    void collectRows();
    void makeColumns();
    [[nodiscard]] Cell leadingCell(int row, int column) const;
    [[nodiscard]] Cell timeCell(const Row& row, std::size_t run, int part) const;

    std::shared_ptr<const LoadedTrace> m_loaded;
    std::vector<RunId> m_runs;
    std::vector<Row> m_rows;
    std::vector<Column> m_columns;
    std::int64_t m_largestNs = 0;
};

}  // namespace fp8scope::gui

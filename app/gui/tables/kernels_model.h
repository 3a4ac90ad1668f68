// SPDX-License-Identifier: GPL-3.0-or-later
// The Kernels table: one row a distinct kernel (op) of a run, per step and per call.
#pragma once

#include "app/gui/context.h"
#include "app/gui/tables/table_model.h"

#include <memory>
#include <vector>

namespace fp8scope::gui {

class KernelsModel : public TableModel {
    Q_OBJECT
public:
    enum ColumnId { Run, Name, FamilyName, RoleName, Calls, Exposed, Share, Busy, Median, P95, Min, Max, Flops, Bytes };

    explicit KernelsModel(QObject* parent = nullptr);

    /// Shows the kernels of these runs; nullptr empties the table.
    void setTrace(std::shared_ptr<const LoadedTrace> loaded, const std::vector<RunId>& runs);

    struct Row {
        RunId run;
        const analysis::KernelTime* kernel;
        std::int64_t stepNs;
    };
    [[nodiscard]] const Row& at(int row) const { return m_rows[static_cast<std::size_t>(row)]; }
    /// The row that a selection means (its op, else its name, in its run where it has one), -1 if none.
    [[nodiscard]] int rowOf(const Selection& selection) const;

protected:
    [[nodiscard]] int rows() const override { return static_cast<int>(m_rows.size()); }
    [[nodiscard]] const std::vector<Column>& columns() const override { return m_columns; }
    [[nodiscard]] Cell cell(int row, int column) const override;

private:
    std::shared_ptr<const LoadedTrace> m_loaded;
    std::vector<Row> m_rows;
    std::vector<Column> m_columns;
    std::int64_t m_largestNs = 0;
};

}  // namespace fp8scope::gui

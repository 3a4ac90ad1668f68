// SPDX-License-Identifier: GPL-3.0-or-later
// One horizontal stacked bar a run: exposed time by family. Used by the overview and the PDF.
#pragma once

#include "app/gui/charts/chart_widget.h"
#include "app/report/report.h"

#include <array>
#include <optional>
#include <vector>

namespace fp8scope::gui {

class FamilyChart : public ChartWidget {
    Q_OBJECT
public:
    explicit FamilyChart(QWidget* parent = nullptr);

    void setBars(report::FamilyBars bars);
    [[nodiscard]] const report::FamilyBars& bars() const { return m_bars; }
    /// The families with any time, in the order of bars and legends.
    [[nodiscard]] std::vector<Family> shownFamilies() const;
    [[nodiscard]] QString unit() const { return m_unit.name; }
    /// Outlines a family; nullopt outlines none.
    void setHighlighted(std::optional<Family> family);
    /// A height at which the bars are as thick as they should be.
    [[nodiscard]] int preferredHeight() const { return heightFor(m_bars.bars.size()); }
    [[nodiscard]] static int heightFor(std::size_t bars);
    /// The bar and family at a place of the widget.
    struct Hit {
        int bar = -1;
        Family family = Family::Unknown;
    };
    [[nodiscard]] std::optional<Hit> hitAt(const QPointF& place) const;

signals:
    void clicked(int bar, fp8scope::Family family);

protected:
    void restyle(const Theme& theme) override;
    void fitLabels() override;
    [[nodiscard]] QString tooltipAt(const QPointF& place) const override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    struct Label {
        QCPItemText* item;
        double ns;  ///< 0: the total at the bar's end, always shown
    };
    [[nodiscard]] double keyOf(std::size_t bar) const;
    void addSeries();
    void addLabels();

    report::FamilyBars m_bars;
    TimeUnit m_unit;
    std::array<QCPBars*, kFamilyCount> m_series{};
    std::vector<Label> m_labels;
    std::vector<Family> m_labelFamilies;  ///< beside m_labels
    std::optional<Family> m_highlighted;
};

}  // namespace fp8scope::gui

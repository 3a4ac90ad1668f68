// SPDX-License-Identifier: GPL-3.0-or-later
// The legend of the family colours, in columns, with the same fills as the bars.
#pragma once

#include "collector/trace/words.h"

#include <QWidget>

#include <optional>
#include <vector>

namespace fp8scope::gui {

class FamilyLegend : public QWidget {
    Q_OBJECT
public:
    explicit FamilyLegend(QWidget* parent = nullptr);
    void setFamilies(std::vector<Family> families);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;

signals:
    void clicked(fp8scope::Family family);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;

private:
    [[nodiscard]] int columnsIn(int width) const;
    [[nodiscard]] QRect entryRect(int index) const;

    std::vector<Family> m_families;
};

}  // namespace fp8scope::gui

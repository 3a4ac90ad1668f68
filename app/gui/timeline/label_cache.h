// SPDX-License-Identifier: GPL-3.0-or-later
// Names drawn once as coverage masks and blended from there: a frame can hold thousands of labels, and shaping text for
// each costs more than all the rest of the picture.
#pragma once

#include <QFont>
#include <QImage>
#include <QString>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fp8scope::gui {

class LabelCache {
public:
    /// A mask of a whole label and where its characters end, in device pixels.
    struct Label {
        QImage mask;  ///< Format_Alpha8
        std::vector<int> ends;
    };

    /// Forgets everything when the font or the scale differs.
    void setFont(const QFont& font, double devicePixelRatio);

    /// Blends the label in `color` into [x, x + width) of the canvas, centred in [y, y + height), elided at its end
    /// with "…"; draws nothing if not even one character and the dots fit.
    void draw(QImage& canvas, int x, int y, int width, int height, QRgb color, std::uint32_t key, const QString& text);

private:
    [[nodiscard]] Label render(const QString& text) const;

    static constexpr std::size_t kMostLabels = 8192;  ///< about 40 MB at worst
    static constexpr qsizetype kMostCharacters = 64;  ///< kernel names can have thousands

    QFont m_font;
    double m_ratio = 0;
    Label m_dots;
    std::unordered_map<std::uint32_t, Label> m_labels;
};

}  // namespace fp8scope::gui

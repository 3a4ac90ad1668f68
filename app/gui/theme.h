// SPDX-License-Identifier: GPL-3.0-or-later
// The two themes' colours (families, surfaces, tones), one place for widgets, charts, timeline and PDF.
#pragma once

#include "app/analysis/overview.h"
#include "collector/trace/words.h"

#include <QBrush>
#include <QColor>
#include <QObject>
#include <QString>

class QApplication;

namespace fp8scope::gui {

enum class ThemeChoice { System, Light, Dark };

struct Theme {
    bool dark = false;
    QColor background, panel, line, text, dim, accent, good, bad, warn;
    [[nodiscard]] QColor family(Family) const;
    /// How a family's area is filled: idle is hatched and unknown dotted, so that no colour is needed to tell them.
    [[nodiscard]] QBrush familyBrush(Family) const;
    [[nodiscard]] QColor tone(analysis::Tone) const;
    /// The accent, faint: under the current row, the current page, the pointer.
    [[nodiscard]] QColor highlight() const;
    /// Black or white, whichever contrasts more with `fill`.
    [[nodiscard]] static QColor textOn(const QColor& fill);
};

/// WCAG 2 contrast ratio of two opaque colours, 1 to 21.
[[nodiscard]] double contrastRatio(const QColor&, const QColor&);

[[nodiscard]] const Theme& lightTheme();
[[nodiscard]] const Theme& darkTheme();

/// The theme in use now; widgets take colours from here when they paint, and repaint on QEvent::PaletteChange.
[[nodiscard]] const Theme& currentTheme();
/// Sets palette and style sheet of the application; System follows the palette that the platform gave.
void applyTheme(QApplication&, ThemeChoice);

/// Spelling in the settings file: "system", "light", "dark"; anything else reads as System.
[[nodiscard]] QString toString(ThemeChoice);
[[nodiscard]] ThemeChoice themeChoiceFrom(const QString&);

}  // namespace fp8scope::gui

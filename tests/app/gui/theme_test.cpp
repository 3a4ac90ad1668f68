// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/theme.h"

#include <QApplication>
#include <QLabel>

#include <gtest/gtest.h>

namespace fp8scope::gui {
namespace {

constexpr double kReadable = 4.5;  // WCAG 2 AA for text

void expectReadable(const Theme& theme)
{
    for (const QColor& surface : {theme.background, theme.panel}) {
        for (const QColor& ink : {theme.text, theme.dim, theme.accent, theme.good, theme.bad, theme.warn})
            EXPECT_GE(contrastRatio(ink, surface), kReadable)
                << ink.name().toStdString() << " on " << surface.name().toStdString();
        EXPECT_GE(contrastRatio(theme.tone(analysis::Tone::Cost), surface), kReadable);
    }
    EXPECT_GE(contrastRatio(theme.text, theme.highlight()), kReadable);
    EXPECT_GE(contrastRatio(theme.accent, theme.highlight()), kReadable);
    for (int f = 0; f < kFamilyCount; ++f) {
        const QColor fill = theme.family(static_cast<Family>(f));
        EXPECT_GE(contrastRatio(Theme::textOn(fill), fill), kReadable) << fill.name().toStdString();
    }
}

TEST(ThemeTest, TextIsReadableInTheLightTheme) { expectReadable(lightTheme()); }

TEST(ThemeTest, TextIsReadableInTheDarkTheme) { expectReadable(darkTheme()); }

TEST(ThemeTest, ContrastIsTheOneOfTheStandard)
{
    EXPECT_NEAR(contrastRatio(Qt::black, Qt::white), 21.0, 1e-9);
    EXPECT_NEAR(contrastRatio(QColor(0x77, 0x77, 0x77), Qt::white), 4.48, 0.01);
}

TEST(ThemeTest, FamiliesDiffer)
{
    for (const Theme* theme : {&lightTheme(), &darkTheme()})
        for (int a = 0; a < kFamilyCount; ++a)
            for (int b = a + 1; b < kFamilyCount; ++b)
                EXPECT_NE(theme->family(static_cast<Family>(a)), theme->family(static_cast<Family>(b)));
}

TEST(ThemeTest, IdleIsAPatternAndNotOnlyAColour)
{
    EXPECT_EQ(lightTheme().familyBrush(Family::Idle).style(), Qt::BDiagPattern);
    EXPECT_EQ(lightTheme().familyBrush(Family::GemmFp8).style(), Qt::SolidPattern);
    EXPECT_NE(lightTheme().familyBrush(Family::Unknown).style(), Qt::SolidPattern);
}

TEST(ThemeTest, ApplyingAThemeChangesPaletteSheetAndCurrentTheme)
{
    applyTheme(*qApp, ThemeChoice::Dark);
    EXPECT_TRUE(currentTheme().dark);
    EXPECT_EQ(QApplication::palette().color(QPalette::Window), darkTheme().background);
    EXPECT_FALSE(qApp->styleSheet().isEmpty());
    EXPECT_FALSE(qApp->styleSheet().contains(QLatin1Char('@'))) << "a colour's name is not replaced";
    applyTheme(*qApp, ThemeChoice::Light);
    EXPECT_FALSE(currentTheme().dark);
    EXPECT_EQ(QApplication::palette().color(QPalette::Window), lightTheme().background);
}

TEST(ThemeTest, SpellingsGoBothWays)
{
    for (const ThemeChoice choice : {ThemeChoice::System, ThemeChoice::Light, ThemeChoice::Dark})
        EXPECT_EQ(themeChoiceFrom(toString(choice)), choice);
    EXPECT_EQ(themeChoiceFrom(QStringLiteral("nonsense")), ThemeChoice::System);
}

}  // namespace
}  // namespace fp8scope::gui

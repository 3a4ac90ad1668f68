// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/theme.h"

#include <QApplication>
#include <QFile>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>

#include <array>
#include <cmath>

// Resources of a static library are linked only if something names them; Q_INIT_RESOURCE must stand outside namespaces.
static void initResources() { Q_INIT_RESOURCE(fp8scope_gui); }

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

// In the order of Family. Okabe-Ito based: cool is useful work, warm is overhead, grey is waiting.
constexpr std::array<QRgb, kFamilyCount> kLightFamilies{0xff0072b2, 0xff56b4e9, 0xffa7d3ee, 0xffd55e00, 0xffe69f00,
                                                        0xff009e73, 0xff2a9d8f, 0xffb0589a, 0xff6f5bc6, 0xff8c6d46,
                                                        0xff8a8f98, 0xffc2c7ce, 0xffdde1e7};
constexpr std::array<QRgb, kFamilyCount> kDarkFamilies{0xff3b9bdc, 0xff8ccbf2, 0xffbfe0f5, 0xfff0803c, 0xfff2bb4a,
                                                       0xff35c79c, 0xff5bc8bc, 0xffd98ac2, 0xff9d8cf0, 0xffb79468,
                                                       0xffa4a9b2, 0xff5a626c, 0xff3a4048};

/// `share` of b in a.
QColor mix(const QColor& a, const QColor& b, double share)
{
    const auto blend = [share](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share)); };
    return QColor(blend(a.red(), b.red()), blend(a.green(), b.green()), blend(a.blue(), b.blue()));
}

double luminance(const QColor& colour)
{
    const auto linear = [](double channel) {
        return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

/// What applyTheme chose. Widgets of the whole process share one look, as they share one QApplication.
const Theme*& activeTheme()
{
    static const Theme* theme = &lightTheme();
    return theme;
}

QPalette paletteOf(const Theme& theme)
{
    QPalette palette;
    palette.setColor(QPalette::Window, theme.background);
    palette.setColor(QPalette::Base, theme.background);
    palette.setColor(QPalette::AlternateBase, theme.panel);
    palette.setColor(QPalette::Button, theme.panel);
    palette.setColor(QPalette::ToolTipBase, theme.panel);
    palette.setColor(QPalette::Mid, theme.line);
    palette.setColor(QPalette::Midlight, theme.line);
    palette.setColor(QPalette::Dark, theme.line);
    for (const QPalette::ColorRole role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText, QPalette::BrightText})
        palette.setColor(role, theme.text);
    palette.setColor(QPalette::PlaceholderText, theme.dim);
    palette.setColor(QPalette::Link, theme.accent);
    palette.setColor(QPalette::LinkVisited, theme.accent);
    palette.setColor(QPalette::Highlight, theme.highlight());
    palette.setColor(QPalette::HighlightedText, theme.text);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, mix(theme.dim, theme.background, 0.35));
    return palette;
}

/// The style sheet with @names@ replaced by the theme's colours.
QString styleSheetOf(const Theme& theme)
{
    QFile file(u":/fp8scope/themes/app.qss"_s);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QString sheet = QString::fromUtf8(file.readAll());
    const std::array<std::pair<QString, QString>, 12> values{{
        {u"@background@"_s, theme.background.name()},
        {u"@panel@"_s, theme.panel.name()},
        {u"@line@"_s, theme.line.name()},
        {u"@text@"_s, theme.text.name()},
        {u"@dim@"_s, theme.dim.name()},
        {u"@accent@"_s, theme.accent.name()},
        {u"@good@"_s, theme.good.name()},
        {u"@bad@"_s, theme.bad.name()},
        {u"@warn@"_s, theme.warn.name()},
        {u"@onwarn@"_s, Theme::textOn(theme.warn).name()},
        {u"@highlight@"_s, theme.highlight().name()},
        {u"@mode@"_s, theme.dark ? u"dark"_s : u"light"_s},
    }};
    for (const auto& [name, value] : values)
        sheet.replace(name, value);
    return sheet;
}

}  // namespace

QColor Theme::family(Family family) const
{
    return QColor::fromRgb((dark ? kDarkFamilies : kLightFamilies)[static_cast<std::size_t>(family)]);
}

QBrush Theme::familyBrush(Family which) const
{
    if (which == Family::Idle)
        return QBrush(mix(family(which), dim, 0.35), Qt::BDiagPattern);
    if (which == Family::Unknown)
        return QBrush(mix(family(which), dim, 0.35), Qt::Dense5Pattern);
    return family(which);
}

QColor Theme::tone(analysis::Tone tone) const
{
    switch (tone) {
    case analysis::Tone::Plain: return text;
    case analysis::Tone::Good: return good;
    case analysis::Tone::Bad: return bad;
    // The light theme's quantization orange is too pale for text; its darker shade reads the same.
    case analysis::Tone::Cost: return dark ? family(Family::Quantization) : QColor(0xb8, 0x4f, 0x00);
    }
    return text;
}

QColor Theme::highlight() const { return mix(panel, accent, dark ? 0.18 : 0.10); }

QColor Theme::textOn(const QColor& fill)
{
    return contrastRatio(Qt::black, fill) >= contrastRatio(Qt::white, fill) ? QColor(Qt::black) : QColor(Qt::white);
}

double contrastRatio(const QColor& a, const QColor& b)
{
    const double la = luminance(a);
    const double lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

const Theme& lightTheme()
{
    static const Theme theme{false,
                             QColor(0xff, 0xff, 0xff),
                             QColor(0xf6, 0xf7, 0xf9),
                             QColor(0xdf, 0xe3, 0xe8),
                             QColor(0x1b, 0x1f, 0x24),
                             QColor(0x5b, 0x65, 0x70),
                             QColor(0x0b, 0x63, 0xce),
                             QColor(0x1a, 0x7f, 0x4b),
                             QColor(0xb4, 0x23, 0x18),
                             QColor(0x9a, 0x67, 0x00)};
    return theme;
}

const Theme& darkTheme()
{
    static const Theme theme{true,
                             QColor(0x14, 0x17, 0x1b),
                             QColor(0x1c, 0x20, 0x26),
                             QColor(0x2c, 0x32, 0x3a),
                             QColor(0xe8, 0xea, 0xed),
                             QColor(0x9a, 0xa4, 0xb0),
                             QColor(0x6c, 0xb2, 0xff),
                             QColor(0x4c, 0xc3, 0x8a),
                             QColor(0xff, 0x7b, 0x72),
                             QColor(0xe3, 0xb3, 0x41)};
    return theme;
}

const Theme& currentTheme() { return *activeTheme(); }

void applyTheme(QApplication& app, ThemeChoice choice)
{
    initResources();
    if (app.style()->name() != u"fusion"_s)
        QApplication::setStyle(QStyleFactory::create(u"Fusion"_s));
    QApplication::setPalette(QPalette());  // back to the platform's, so that System can look at it
    const bool platformIsDark = QApplication::palette().color(QPalette::Window).lightness() < 128;
    const bool dark = choice == ThemeChoice::Dark || (choice == ThemeChoice::System && platformIsDark);
    activeTheme() = dark ? &darkTheme() : &lightTheme();
    QApplication::setPalette(paletteOf(currentTheme()));
    app.setStyleSheet(styleSheetOf(currentTheme()));
}

QString toString(ThemeChoice choice)
{
    switch (choice) {
    case ThemeChoice::System: return u"system"_s;
    case ThemeChoice::Light: return u"light"_s;
    case ThemeChoice::Dark: return u"dark"_s;
    }
    return u"system"_s;
}

ThemeChoice themeChoiceFrom(const QString& text)
{
    if (text == u"light"_s)
        return ThemeChoice::Light;
    return text == u"dark"_s ? ThemeChoice::Dark : ThemeChoice::System;
}

}  // namespace fp8scope::gui

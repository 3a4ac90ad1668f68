// SPDX-License-Identifier: GPL-3.0-or-later
// GoogleTest with a QApplication, which every widget needs.
#include "app/gui/theme.h"

#include <QApplication>

#include <gtest/gtest.h>

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    fp8scope::gui::applyTheme(app, fp8scope::gui::ThemeChoice::Light);
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

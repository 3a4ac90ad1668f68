// SPDX-License-Identifier: GPL-3.0-or-later
// The files opened lately, newest first, kept in the settings.
#pragma once

#include <QStringList>

class QSettings;

namespace fp8scope::gui {

class RecentFiles {
public:
    static constexpr int kKept = 10;

    explicit RecentFiles(QSettings& settings) : m_settings(settings) {}
    [[nodiscard]] QStringList paths() const;
    /// Puts an absolute path first.
    void add(const QString& path);
    void clear();

private:
    QSettings& m_settings;
};

}  // namespace fp8scope::gui

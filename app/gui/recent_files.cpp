// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/recent_files.h"

#include <QFileInfo>
#include <QSettings>

namespace fp8scope::gui {

namespace {

const QLatin1StringView kKey("files/recent");

}  // namespace

QStringList RecentFiles::paths() const { return m_settings.value(kKey).toStringList(); }

void RecentFiles::add(const QString& path)
{
    const QString absolute = QFileInfo(path).absoluteFilePath();
    QStringList all = paths();
    all.removeAll(absolute);
    all.prepend(absolute);
    m_settings.setValue(kKey, all.mid(0, kKept));
}

void RecentFiles::clear() { m_settings.remove(kKey); }

}  // namespace fp8scope::gui

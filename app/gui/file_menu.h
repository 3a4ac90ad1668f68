// SPDX-License-Identifier: GPL-3.0-or-later
// The menu under the file's name: open a file or a folder of ranks, reload, recent files, PDF, close, quit; with their keys.
#pragma once

#include "app/gui/recent_files.h"

#include <QMenu>

namespace fp8scope::gui {

class FileMenu : public QMenu {
    Q_OBJECT
public:
    /// The actions are added to `window` too, so that their keys work while the menu is shut.
    FileMenu(RecentFiles recent, QWidget* window);
    /// Which actions make sense: a trace is open, or only a path that could be tried again.
    void setState(bool hasTrace, bool hasPath);

signals:
    void openRequested();
    void openFolderRequested();
    void fileChosen(const QString& path);
    void reloadRequested();
    void exportRequested();
    void closeRequested();
    void quitRequested();

private:
    QAction* addItem(const QString& text, const QKeySequence& key, void (FileMenu::*signal)());
    void fillRecent();

    RecentFiles m_recent;
    QWidget* m_window;
    QMenu* m_recentMenu = nullptr;
    QAction* m_reload = nullptr;
    QAction* m_export = nullptr;
    QAction* m_close = nullptr;
};

}  // namespace fp8scope::gui

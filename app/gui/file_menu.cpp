// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/file_menu.h"

#include <QFileInfo>

namespace fp8scope::gui {

FileMenu::FileMenu(RecentFiles recent, QWidget* window) : QMenu(window), m_recent(recent), m_window(window)
{
    addItem(tr("Open a trace\u2026"), QKeySequence::Open, &FileMenu::openRequested);
    addItem(tr("Open a folder of ranks\u2026"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O),
            &FileMenu::openFolderRequested);
    m_recentMenu = addMenu(tr("Opened lately"));
    connect(m_recentMenu, &QMenu::aboutToShow, this, &FileMenu::fillRecent);
    m_reload = addItem(tr("Read again"), QKeySequence(Qt::Key_F5), &FileMenu::reloadRequested);
    addSeparator();
    m_export = addItem(tr("Write a PDF report\u2026"), QKeySequence::Print, &FileMenu::exportRequested);
    addSeparator();
    m_close = addItem(tr("Close the trace"), QKeySequence(Qt::CTRL | Qt::Key_W), &FileMenu::closeRequested);
    addItem(tr("Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), &FileMenu::quitRequested);
    setState(false, false);
}

QAction* FileMenu::addItem(const QString& text, const QKeySequence& key, void (FileMenu::*signal)())
{
    QAction* action = addAction(text);
    action->setShortcut(key);
    connect(action, &QAction::triggered, this, signal);
    m_window->addAction(action);
    return action;
}

void FileMenu::setState(bool hasTrace, bool hasPath)
{
    m_reload->setEnabled(hasPath);
    m_export->setEnabled(hasTrace);
    m_close->setEnabled(hasTrace);
}

void FileMenu::fillRecent()
{
    m_recentMenu->clear();
    for (const QString& path : m_recent.paths()) {
        QAction* action = m_recentMenu->addAction(path, this, [this, path] { emit fileChosen(path); });
        action->setEnabled(QFileInfo::exists(path));
    }
    if (m_recentMenu->isEmpty()) {
        m_recentMenu->addAction(tr("None yet"))->setEnabled(false);
        return;
    }
    m_recentMenu->addSeparator();
    m_recentMenu->addAction(tr("Forget these"), this, [this] { m_recent.clear(); });
}

}  // namespace fp8scope::gui

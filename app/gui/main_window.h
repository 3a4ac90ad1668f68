// SPDX-License-Identifier: GPL-3.0-or-later
// The window: frame, pages and what opens traces. Pages are made when they are first shown.
#pragma once

#include "app/gui/context.h"
#include "app/gui/recent_files.h"
#include "app/gui/theme.h"
#include "app/gui/trace_loader.h"

#include <QMainWindow>

#include <array>

class QSettings;
class QStackedWidget;

namespace fp8scope::gui {

class FileMenu;
class HonestyStrip;
class NavRail;
class NoticeArea;
class StartPage;
class TimelinePage;
class TopBar;

inline constexpr int kPages = static_cast<int>(Page::Advice) + 1;

/// Things of the outside that the window is given, so that tests give others.
struct WindowEnvironment {
    QString demoProgram;  ///< the fp8scope command; empty: not found
    QString demoOutput;   ///< where the demo's trace goes
    QString madeAt;       ///< ISO date for reports; empty: the day of the export
    TraceLoader::LoadFunction load = readAndAnalyse;
};

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    /// `settings` must outlive the window.
    MainWindow(QSettings& settings, WindowEnvironment environment, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Opens a trace in the background; a later call supersedes an earlier one.
    void openFile(const QString& path);
    /// Writes the PDF of the open trace; shows a notice either way.
    void exportPdf(const QString& path);
    void showPage(Page page);
    /// The page's widget, made if need be. Without a trace the window shows the start page instead.
    [[nodiscard]] QWidget* page(Page page);

    [[nodiscard]] Context& context() { return m_context; }
    [[nodiscard]] TraceLoader& loader() { return m_loader; }
    [[nodiscard]] NoticeArea* notice() const { return m_notice; }
    [[nodiscard]] TopBar* topBar() const { return m_topBar; }
    [[nodiscard]] StartPage* startPage() const { return m_start; }
    [[nodiscard]] QStackedWidget* stack() const { return m_stack; }

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

private:
    void buildFrame();
    void connectFrame();
    void connectLoader();
    void addShortcuts();
    void onLoaded();
    void refreshFileMenu();
    void chooseFile();
    void chooseFolder();
    void chooseExport();
    void setTheme(ThemeChoice choice);
    [[nodiscard]] QWidget* makePage(Page page);

    QSettings& m_settings;
    WindowEnvironment m_environment;
    RecentFiles m_recent;
    Context m_context;
    TraceLoader m_loader;
    FileMenu* m_fileMenu = nullptr;
    TopBar* m_topBar = nullptr;
    NavRail* m_rail = nullptr;
    NoticeArea* m_notice = nullptr;
    QStackedWidget* m_stack = nullptr;
    HonestyStrip* m_honesty = nullptr;
    StartPage* m_start = nullptr;
    TimelinePage* m_timeline = nullptr;
    std::array<QWidget*, kPages> m_pages{};
    Page m_current = Page::Overview;
};

}  // namespace fp8scope::gui

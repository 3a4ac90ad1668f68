// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"

#include "app/gui/advice/advice_page.h"
#include "app/gui/file_menu.h"
#include "app/gui/frame/honesty_strip.h"
#include "app/gui/frame/nav_rail.h"
#include "app/gui/frame/notice_area.h"
#include "app/gui/frame/search_box.h"
#include "app/gui/frame/top_bar.h"
#include "app/gui/overview/overview_page.h"
#include "app/gui/pdf/pdf_report.h"
#include "app/gui/start_page.h"
#include "app/gui/tables/kernels_page.h"
#include "app/gui/tables/layers_page.h"
#include "app/gui/text.h"
#include "app/gui/timeline/timeline_page.h"
#include "collector/trace/error.h"

#include <QApplication>
#include <QDate>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMimeData>
#include <QSettings>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

const QLatin1StringView kThemeKey("window/theme");
const QLatin1StringView kGeometryKey("window/geometry");
const QLatin1StringView kFolderKey("files/folder");

}  // namespace

MainWindow::MainWindow(QSettings& settings, WindowEnvironment environment, QWidget* parent)
    : QMainWindow(parent), m_settings(settings), m_environment(std::move(environment)), m_recent(settings),
      m_loader(m_environment.load, nullptr)
{
    setWindowTitle(tr("fp8scope"));
    setAcceptDrops(true);
    resize(1280, 800);
    setMinimumSize(900, 560);
    buildFrame();
    connectFrame();
    connectLoader();
    addShortcuts();
    restoreGeometry(m_settings.value(kGeometryKey).toByteArray());
    m_rail->setThemeChoice(themeChoiceFrom(m_settings.value(kThemeKey).toString()));
    onLoaded();
}

MainWindow::~MainWindow()
{
    // Pages hold the context; they go before it, not after it with QMainWindow's children.
    delete takeCentralWidget();
}

void MainWindow::buildFrame()
{
    auto* frame = new QWidget(this);
    m_fileMenu = new FileMenu(m_recent, this);
    m_topBar = new TopBar(&m_context, m_fileMenu, frame);
    m_rail = new NavRail(frame);
    m_notice = new NoticeArea(frame);
    m_stack = new QStackedWidget(frame);
    m_honesty = new HonestyStrip(frame);
    m_start = new StartPage(m_environment.demoProgram, m_environment.demoOutput, m_stack);
    m_stack->addWidget(m_start);

    auto* content = new QVBoxLayout;
    content->setSpacing(0);
    content->addWidget(m_notice);
    content->addWidget(m_stack, 1);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(m_rail);
    middle->addLayout(content, 1);
    auto* layout = new QVBoxLayout(frame);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_topBar);
    layout->addLayout(middle, 1);
    layout->addWidget(m_honesty);
    setCentralWidget(frame);
}

void MainWindow::connectFrame()
{
    connect(m_fileMenu, &FileMenu::openRequested, this, &MainWindow::chooseFile);
    connect(m_fileMenu, &FileMenu::openFolderRequested, this, &MainWindow::chooseFolder);
    connect(m_fileMenu, &FileMenu::fileChosen, this, &MainWindow::openFile);
    connect(m_fileMenu, &FileMenu::reloadRequested, this, [this] { openFile(m_loader.path()); });
    connect(m_fileMenu, &FileMenu::exportRequested, this, &MainWindow::chooseExport);
    connect(m_fileMenu, &FileMenu::closeRequested, this, [this] { m_context.setLoaded(nullptr); });
    connect(m_fileMenu, &FileMenu::quitRequested, this, &QWidget::close);
    connect(m_rail, &NavRail::pageChosen, this, &MainWindow::showPage);
    connect(m_rail, &NavRail::themeChosen, this, &MainWindow::setTheme);
    connect(m_notice, &NoticeArea::cancelRequested, &m_loader, &TraceLoader::cancel);
    connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseFile);
    connect(m_start, &StartPage::fileChosen, this, &MainWindow::openFile);
    connect(m_start, &StartPage::demoFinished, this, &MainWindow::openFile);
    connect(m_start, &StartPage::demoFailed, this,
            [this](const QString& reason) { m_notice->showError(tr("The demo did not run"), reason); });
    connect(&m_context, &Context::loadedChanged, this, &MainWindow::onLoaded);
    connect(&m_context, &Context::pageRequested, this, [this](Page page, bool reveal) {
        showPage(page);
        if (reveal && page == Page::Timeline)
            m_timeline->reveal();
    });
}

void MainWindow::connectLoader()
{
    connect(&m_loader, &TraceLoader::started, m_notice, &NoticeArea::showLoading);
    connect(&m_loader, &TraceLoader::started, this, &MainWindow::refreshFileMenu);
    connect(&m_loader, &TraceLoader::progressed, m_notice, &NoticeArea::setProgress);
    connect(&m_loader, &TraceLoader::cancelled, m_notice, &NoticeArea::clear);
    connect(&m_loader, &TraceLoader::failed, m_notice, &NoticeArea::showFailure);
    connect(&m_loader, &TraceLoader::loaded, this, [this](const std::shared_ptr<const LoadedTrace>& loaded) {
        m_notice->clear();
        m_recent.add(loaded->path);
        m_context.setLoaded(loaded);
    });
}

void MainWindow::addShortcuts()
{
    const auto add = [this](const QKeySequence& key, auto action) {
        connect(new QShortcut(key, this), &QShortcut::activated, this, action);
    };
    const auto search = [this] {
        m_topBar->search()->setFocus(Qt::ShortcutFocusReason);
        m_topBar->search()->selectAll();
    };
    for (int page = 0; page < kPages; ++page)
        add(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + page)),
            [this, page] { showPage(static_cast<Page>(page)); });
    add(QKeySequence(Qt::Key_Slash), search);
    add(QKeySequence::Find, search);
    add(QKeySequence(Qt::Key_Escape), [this] {
        if (m_loader.busy())
            m_loader.cancel();
        else
            m_context.clearSelection();
    });
}

void MainWindow::openFile(const QString& path)
{
    if (path.isEmpty())
        return;
    const QFileInfo file(path);
    m_settings.setValue(kFolderKey, file.absolutePath());
    m_loader.open(file.absoluteFilePath());
}

void MainWindow::onLoaded()
{
    const auto& loaded = m_context.loaded();
    m_rail->setPagesEnabled(loaded != nullptr);
    refreshFileMenu();
    if (!loaded) {
        setWindowTitle(tr("fp8scope"));
        m_honesty->clear();
        m_rail->setAdviceCount(0);
        m_start->setRecentFiles(m_recent.paths());
        m_stack->setCurrentWidget(m_start);
        return;
    }
    setWindowTitle(tr("%1 \u2013 fp8scope").arg(QFileInfo(loaded->path).fileName()));
    m_honesty->setHonesty(loaded->overview.honesty, loaded->trace);
    m_rail->setAdviceCount(static_cast<int>(loaded->overview.findings.size()));
    showPage(m_stack->currentWidget() == m_start ? Page::Overview : m_current);
}

void MainWindow::refreshFileMenu() { m_fileMenu->setState(m_context.loaded() != nullptr, !m_loader.path().isEmpty()); }

void MainWindow::showPage(Page page)
{
    if (!m_context.loaded())
        return;
    m_current = page;
    m_rail->setCurrent(page);
    m_stack->setCurrentWidget(this->page(page));
}

QWidget* MainWindow::page(Page page)
{
    QWidget*& widget = m_pages[static_cast<std::size_t>(page)];
    if (!widget) {
        widget = makePage(page);
        m_stack->addWidget(widget);
    }
    return widget;
}

QWidget* MainWindow::makePage(Page page)
{
    switch (page) {
    case Page::Overview: return new OverviewPage(&m_context);
    case Page::Timeline: return m_timeline = new TimelinePage(&m_context);
    case Page::Layers: return new LayersPage(&m_context);
    case Page::Kernels: return new KernelsPage(&m_context);
    case Page::Advice: return new AdvicePage(&m_context);
    }
    return new QWidget;
}

void MainWindow::chooseFile()
{
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Open a trace"), m_settings.value(kFolderKey).toString(),
        tr("Traces of any tool (*.fp8trace *.json *.json.gz *.json.tmp *.sqlite *.nsys-rep *.qdrep *.tar *.tar.gz "
           "*.tgz);;Traces of fp8scope (*.fp8trace);;PyTorch profiler (*.json *.json.gz *.json.tmp);;Nsight Systems "
           "(*.sqlite *.nsys-rep *.qdrep);;All files (*)"));
    openFile(path);
}

void MainWindow::chooseFolder()
{
    openFile(QFileDialog::getExistingDirectory(this, tr("Open the ranks of a job"),
                                               m_settings.value(kFolderKey).toString()));
}

void MainWindow::chooseExport()
{
    const QFileInfo trace(m_context.loaded()->path);
    const QString proposed = trace.absolutePath() + u'/' + trace.completeBaseName() + u".pdf"_s;
    const QString path = QFileDialog::getSaveFileName(this, tr("Write a PDF report"), proposed, tr("PDF (*.pdf)"));
    if (!path.isEmpty())
        exportPdf(path);
}

void MainWindow::exportPdf(const QString& path)
{
    const auto& loaded = m_context.loaded();
    if (!loaded)
        return;
    const QString madeAt =
        m_environment.madeAt.isEmpty() ? QDate::currentDate().toString(Qt::ISODate) : m_environment.madeAt;
    try {
        const int pages = writePdf(reportOf(*loaded, madeAt), path);
        m_notice->showMessage(tr("The report is written"), tr("%1, %2 pages").arg(path).arg(pages));
    } catch (const Error& error) {
        m_notice->showError(tr("The report could not be written"), QString::fromUtf8(error.what()));
    }
}

void MainWindow::setTheme(ThemeChoice choice)
{
    m_settings.setValue(kThemeKey, toString(choice));
    applyTheme(*qApp, choice);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (std::any_of(urls.begin(), urls.end(), [](const QUrl& url) { return url.isLocalFile(); }))
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    for (const QUrl& url : urls)
        if (url.isLocalFile())
            return openFile(url.toLocalFile());
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    m_settings.setValue(kGeometryKey, saveGeometry());
    QMainWindow::closeEvent(event);
}

}  // namespace fp8scope::gui

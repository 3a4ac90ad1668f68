// SPDX-License-Identifier: GPL-3.0-or-later
// A driven window: opening, cancelling, failing, selecting across pages, filtering, hiding runs, the theme, the PDF.
#include "app/gui/main_window.h"

#include "app/gui/charts/family_chart.h"
#include "app/gui/frame/notice_area.h"
#include "app/gui/frame/search_box.h"
#include "app/gui/frame/top_bar.h"
#include "app/gui/overview/family_panel.h"
#include "app/gui/overview/overview_page.h"
#include "app/gui/start_page.h"
#include "app/gui/tables/kernels_model.h"
#include "app/gui/tables/kernels_page.h"
#include "app/gui/tables/layers_model.h"
#include "app/gui/tables/layers_page.h"
#include "app/gui/tables/table_view.h"
#include "collector/trace/error.h"
#include "collector/trace/trace_writer.h"
#include "tests/app/gui/gui_fixture.h"

#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QHeaderView>
#include <QLineEdit>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

#include <semaphore>

namespace fp8scope::gui {
namespace {

using test::loadedOf;
using test::smallTrace;
using test::waitFor;
using namespace Qt::StringLiterals;

class WindowTest : public ::testing::Test {
protected:
    WindowTest() : settings(folder.filePath(u"settings.ini"_s), QSettings::IniFormat)
    {
        tracePath = folder.filePath(u"small.fp8trace"_s);
        saveTrace(smallTrace(), tracePath.toStdString());
    }
    void makeWindow(TraceLoader::LoadFunction load = readAndAnalyse)
    {
        window =
            std::make_unique<MainWindow>(settings, WindowEnvironment{.demoOutput = folder.filePath(u"demo.fp8trace"_s),
                                                                     .madeAt = u"2026-01-01"_s,
                                                                     .load = std::move(load)});
        window->show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(window.get()));
        QApplication::setActiveWindow(
            window.get());  // keys act in the active window only, and Xvfb has no window manager
    }
    void open(const QString& path)
    {
        window->openFile(path);
        ASSERT_TRUE(waitFor([&] { return !window->loader().busy(); }));
    }
    template <typename PageType>
    PageType* pageAs(Page page)
    {
        return qobject_cast<PageType*>(window->page(page));
    }

    QTemporaryDir folder;
    QSettings settings;
    QString tracePath;
    std::unique_ptr<MainWindow> window;
};

TEST_F(WindowTest, StartsWithThePageThatSaysHowToGetATrace)
{
    makeWindow();
    EXPECT_EQ(window->stack()->currentWidget(), window->startPage());
    EXPECT_EQ(window->notice()->kind(), NoticeArea::Kind::None);
}

TEST_F(WindowTest, OpensATraceOnTheOverviewAndRemembersIt)
{
    makeWindow();
    open(tracePath);
    ASSERT_NE(window->context().loaded(), nullptr);
    EXPECT_EQ(window->stack()->currentWidget(), window->page(Page::Overview));
    EXPECT_EQ(window->topBar()->runToggles().size(), 3U);
    EXPECT_EQ(RecentFiles(settings).paths(), QStringList{tracePath});
    EXPECT_TRUE(window->windowTitle().startsWith(u"small.fp8trace"_s));
}

TEST_F(WindowTest, ABrokenFileLeavesThePreviousTraceAndSaysWhy)
{
    makeWindow();
    open(tracePath);
    const auto before = window->context().loaded();
    QFile broken(folder.filePath(u"broken.fp8trace"_s));
    ASSERT_TRUE(broken.open(QIODevice::WriteOnly));
    broken.write("nothing that is a trace");
    broken.close();
    open(broken.fileName());
    EXPECT_EQ(window->context().loaded(), before);
    EXPECT_EQ(window->notice()->kind(), NoticeArea::Kind::Error);
    EXPECT_TRUE(window->notice()->title().contains(u"broken.fp8trace"_s));
    EXPECT_TRUE(window->notice()->text().contains(broken.fileName()));
    EXPECT_TRUE(window->isVisible());
}

TEST_F(WindowTest, EscapeCancelsAnOpenAndThePreviousTraceStays)
{
    makeWindow([](const QString& path, const LoadOptions& options) {
        if (path.endsWith(u"never"_s))
            while (true) {
                if (options.stop.stop_requested())
                    throw LoadCancelled{};
                std::this_thread::yield();
            }
        return readAndAnalyse(path, options);
    });
    open(tracePath);
    const auto before = window->context().loaded();
    window->openFile(folder.filePath(u"never"_s));
    EXPECT_EQ(window->notice()->kind(), NoticeArea::Kind::Loading);
    QTest::keyClick(window.get(), Qt::Key_Escape);
    EXPECT_FALSE(window->loader().busy());
    EXPECT_EQ(window->notice()->kind(), NoticeArea::Kind::None);
    EXPECT_EQ(window->context().loaded(), before);
}

TEST_F(WindowTest, OfTwoQuickOpensTheSecondIsShown)
{
    const QString second = folder.filePath(u"second.fp8trace"_s);
    saveTrace(smallTrace(), second.toStdString());
    makeWindow();
    window->openFile(tracePath);
    window->openFile(second);
    ASSERT_TRUE(waitFor([&] { return !window->loader().busy(); }));
    ASSERT_NE(window->context().loaded(), nullptr);
    EXPECT_EQ(window->context().loaded()->path, second);
    EXPECT_EQ(window->notice()->kind(), NoticeArea::Kind::None);
}

TEST_F(WindowTest, ADroppedFileIsOpened)
{
    makeWindow();
    QMimeData mime;
    mime.setUrls({QUrl::fromLocalFile(tracePath)});
    QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &enter);
    ASSERT_TRUE(enter.isAccepted());
    QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &drop);
    ASSERT_TRUE(waitFor([&] { return window->context().loaded() != nullptr; }));
    EXPECT_EQ(window->context().loaded()->path, tracePath);
}

TEST_F(WindowTest, ReadAgainAndCloseWorkByKey)
{
    makeWindow();
    open(tracePath);
    const auto before = window->context().loaded();
    QTest::keyClick(window.get(), Qt::Key_F5);
    ASSERT_TRUE(waitFor([&] { return window->context().loaded() != before; }));
    QTest::keyClick(window.get(), Qt::Key_W, Qt::ControlModifier);
    EXPECT_EQ(window->context().loaded(), nullptr);
    EXPECT_EQ(window->stack()->currentWidget(), window->startPage());
}

TEST_F(WindowTest, PagesAreReachedByKeyOnlyWithATrace)
{
    makeWindow();
    QTest::keyClick(window.get(), Qt::Key_4, Qt::ControlModifier);
    EXPECT_EQ(window->stack()->currentWidget(), window->startPage());
    open(tracePath);
    QTest::keyClick(window.get(), Qt::Key_4, Qt::ControlModifier);
    EXPECT_EQ(window->stack()->currentWidget(), window->page(Page::Kernels));
    open(tracePath);
    EXPECT_EQ(window->stack()->currentWidget(), window->page(Page::Kernels)) << "a reload must not change the page";
}

TEST_F(WindowTest, ASelectedKernelIsSelectedOnAllPages)
{
    makeWindow();
    open(tracePath);
    auto* kernels = pageAs<KernelsPage>(Page::Kernels);
    auto* layers = pageAs<LayersPage>(Page::Layers);
    window->showPage(Page::Kernels);
    QTableView* table = kernels->view()->table();
    table->setCurrentIndex(kernels->view()->proxy()->index(0, KernelsModel::Name));
    const Selection selected = window->context().selection();
    EXPECT_TRUE(selected.name.valid());
    EXPECT_TRUE(selected.slice.valid());

    const LayerId layer = window->context().loaded()->trace.op(selected.op).layer;
    window->context().setSelection({.run = selected.run, .layer = layer});
    const auto rows = layers->view()->table()->selectionModel()->selectedRows();
    ASSERT_EQ(rows.size(), 1);
    EXPECT_EQ(rows.first().data().toString().toStdString(), window->context().loaded()->trace.layer(layer).name);
    EXPECT_TRUE(kernels->view()->table()->selectionModel()->selectedRows().isEmpty());
}

TEST_F(WindowTest, ADoubleClickInATableJumpsToTheTimeline)
{
    makeWindow();
    open(tracePath);
    auto* layers = pageAs<LayersPage>(Page::Layers);
    window->showPage(Page::Layers);
    emit layers->view()->rowActivated(1, 8);  // "out", in the columns of fp8
    EXPECT_EQ(window->stack()->currentWidget(), window->page(Page::Timeline));
    const SliceRef slice = window->context().selection().slice;
    ASSERT_TRUE(slice.valid());
    EXPECT_EQ(window->context().loaded()->trace.track(slice.track).run, RunId(1));
    EXPECT_EQ(window->context().selection().layer,
              window->context().loaded()->trace.op(window->context().selection().op).layer);
}

TEST_F(WindowTest, AClickOnAFamilyBarJumpsToTheTimeline)
{
    makeWindow();
    open(tracePath);
    auto* overview = pageAs<OverviewPage>(Page::Overview);
    emit overview->familyPanel()->chart()->clicked(1, Family::Quantization);
    EXPECT_EQ(window->stack()->currentWidget(), window->page(Page::Timeline));
    EXPECT_EQ(window->context().selection().family, Family::Quantization);
    EXPECT_EQ(window->context().selection().run, RunId(1));
}

TEST_F(WindowTest, HidingARunTakesItsColumnsAndBarsAndTheLastRunStays)
{
    makeWindow();
    open(tracePath);
    auto* overview = pageAs<OverviewPage>(Page::Overview);
    auto* layers = pageAs<LayersPage>(Page::Layers);
    const int all = layers->view()->proxy()->columnCount();
    const auto& toggles = window->topBar()->runToggles();
    toggles[0]->click();
    EXPECT_LT(layers->view()->proxy()->columnCount(), all);
    EXPECT_EQ(overview->familyPanel()->chart()->bars().bars.size(), 2U);
    toggles[1]->click();
    toggles[2]->click();
    EXPECT_TRUE(toggles[2]->isChecked());
    EXPECT_EQ(overview->familyPanel()->chart()->bars().bars.size(), 1U);
}

TEST_F(WindowTest, TheFilterAndTheCopyTakeWhatIsShown)
{
    makeWindow();
    open(tracePath);
    TableView* view = pageAs<KernelsPage>(Page::Kernels)->view();
    view->filterBox()->setText(u"fused cast"_s);
    EXPECT_EQ(view->proxy()->rowCount(), 2);
    view->table()->setColumnHidden(KernelsModel::RoleName, true);
    const QStringList lines = view->asTabSeparated().split(u'\n', Qt::SkipEmptyParts);
    ASSERT_EQ(lines.size(), 3);
    EXPECT_TRUE(lines.at(0).startsWith(u"Run\tKernel\tFamily\tCalls\t"_s)) << lines.at(0).toStdString();
    EXPECT_TRUE(lines.at(1).startsWith(u"fp8-fused\t"_s));
}

TEST_F(WindowTest, SearchFindsALayerAndGoesThere)
{
    makeWindow();
    open(tracePath);
    SearchBox* search = window->topBar()->search();
    EXPECT_EQ(search->entries().filter(u"layer,"_s).size(), 6);
    search->setText(u"out  \u2013  layer, fp8-fused"_s);
    QTest::keyClick(search, Qt::Key_Return);
    EXPECT_EQ(window->stack()->currentWidget(), window->page(Page::Timeline));
    EXPECT_EQ(window->context().selection().run, RunId(2));
    EXPECT_EQ(window->context().loaded()->trace.layer(window->context().selection().layer).name, "out");
}

TEST_F(WindowTest, TheThemeIsRemembered)
{
    makeWindow();
    const auto buttons = window->findChildren<QPushButton*>();
    const auto dark =
        std::find_if(buttons.begin(), buttons.end(), [](auto* b) { return b->accessibleName() == u"Theme: Dark"_s; });
    ASSERT_NE(dark, buttons.end());
    (*dark)->click();
    EXPECT_TRUE(currentTheme().dark);
    EXPECT_EQ(settings.value(u"window/theme"_s).toString(), u"dark"_s);
    applyTheme(*qApp, ThemeChoice::Light);
}

TEST_F(WindowTest, WithoutTheCommandTheDemoSaysWhatIsMissing)
{
    makeWindow();
    const auto buttons = window->startPage()->findChildren<QPushButton*>();
    const auto demo =
        std::find_if(buttons.begin(), buttons.end(), [](auto* b) { return b->text() == u"Run the demo"_s; });
    ASSERT_NE(demo, buttons.end());
    (*demo)->click();
    EXPECT_EQ(window->notice()->kind(), NoticeArea::Kind::Error);
    EXPECT_TRUE(window->notice()->text().contains(u"fp8scope was not found"_s));
    EXPECT_EQ((*demo)->text(), u"Run the demo"_s);
}

TEST_F(WindowTest, ExportsThePdfAndSaysWhereOrWhyNot)
{
    makeWindow();
    open(tracePath);
    const QString pdf = folder.filePath(u"report.pdf"_s);
    window->exportPdf(pdf);
    EXPECT_EQ(window->notice()->kind(), NoticeArea::Kind::Message);
    EXPECT_GT(QFileInfo(pdf).size(), 1000);
    window->exportPdf(folder.filePath(u"no/such/folder/report.pdf"_s));
    EXPECT_EQ(window->notice()->kind(), NoticeArea::Kind::Error);
}

}  // namespace
}  // namespace fp8scope::gui

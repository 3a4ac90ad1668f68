// SPDX-License-Identifier: GPL-3.0-or-later
// gui_screenshots FOLDER TRACE: every page in both themes as PNG, for looking at. With -platform offscreen or under
// Xvfb.
#include "app/gui/main_window.h"

#include "app/gui/doors.h"
#include "app/gui/theme.h"
#include "collector/trace/trace_writer.h"
#include "tests/app/gui/gui_fixture.h"
#include "tests/support/loop_trace.h"

#include <QApplication>
#include <QDir>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <cstdio>

namespace {

using namespace fp8scope;
using namespace fp8scope::gui;
using namespace Qt::StringLiterals;

struct Shot {
    Page page;
    const char* name;
};
constexpr Shot kShots[] = {{Page::Overview, "overview"},
                           {Page::Timeline, "timeline"},
                           {Page::Layers, "layers"},
                           {Page::Kernels, "kernels"},
                           {Page::Advice, "advice"}};

bool save(MainWindow& window, const QString& file)
{
    QTest::qWait(300);  // the timeline's summaries are made in the background
    if (window.grab().save(file))
        return true;
    std::fprintf(stderr, "%s cannot be written\n", qPrintable(file));
    return false;
}

bool shootAll(MainWindow& window, const QString& folder, const QString& theme)
{
    bool all = true;
    for (const Shot& shot : kShots) {
        window.showPage(shot.page);
        if (shot.page == Page::Timeline && !window.context().loaded()->overview.runs.empty()) {
            const RunId last = window.context().loaded()->overview.runs.back().run;
            window.context().setRange(doorToTypicalStep(*window.context().loaded(), last).range);
            open(window.context(), doorToFamily(*window.context().loaded(), last, Family::Quantization));
        }
        all = save(window, u"%1/%2-%3.png"_s.arg(folder, QLatin1StringView(shot.name), theme)) && all;
    }
    return all;
}

}  // namespace

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    const QStringList arguments = QApplication::arguments();
    if (arguments.size() < 2 || arguments.size() > 3) {
        std::fputs("usage: gui_screenshots FOLDER [TRACE]\n", stderr);
        return 2;
    }
    const QString& folder = arguments[1];
    QDir().mkpath(folder);
    QTemporaryDir home;
    QSettings settings(home.filePath(u"settings.ini"_s), QSettings::IniFormat);
    QString trace = arguments.value(2);
    if (trace.isEmpty()) {
        trace = home.filePath(u"loop.fp8trace"_s);
        saveTrace(fp8scope::test::makeLoopTrace(), trace.toStdString());
    }
    bool all = true;
    for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
        applyTheme(app, choice);
        settings.setValue(u"window/theme"_s, toString(choice));
        MainWindow window(settings, {.demoOutput = home.filePath(u"demo.fp8trace"_s)});
        window.show();
        all = save(window, u"%1/start-%2.png"_s.arg(folder, toString(choice))) && all;
        window.openFile(trace);
        if (!fp8scope::gui::test::waitFor([&] { return !window.loader().busy(); }) || !window.context().loaded())
            return 1;
        all = shootAll(window, folder, toString(choice)) && all;
    }
    return all ? 0 : 1;
}

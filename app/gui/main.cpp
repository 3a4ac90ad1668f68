// SPDX-License-Identifier: GPL-3.0-or-later
// fp8scope-gui [FILE...]: the app; --export-pdf OUT FILE... writes reports without a display.
#include "app/gui/demo_runner.h"
#include "app/gui/export_pdf.h"
#include "app/gui/main_window.h"
#include "app/gui/text.h"
#include "app/gui/theme.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QIcon>
#include <QLoggingCategory>
#include <QSettings>
#include <QStandardPaths>

#include <cstdio>

namespace {

using namespace fp8scope::gui;
using namespace Qt::StringLiterals;

constexpr int kUsageError = 2;

void describe(QCommandLineParser& parser)
{
    parser.setApplicationDescription(QCoreApplication::translate(
        "main",
        "Shows where the time of FP8 training goes. Without a file it offers to open one or to record a demo."));
    parser.addOption(
        {u"export-pdf"_s,
         QCoreApplication::translate("main", "Write a PDF report of FILE to OUT and exit; needs no display. With "
                                             "several files, OUT is a folder."),
         u"OUT"_s});
    parser.addOptions({{{u"h"_s, u"help"_s}, QCoreApplication::translate("main", "Show this help and exit.")},
                       {{u"v"_s, u"version"_s}, QCoreApplication::translate("main", "Show the version and exit.")}});
    parser.addPositionalArgument(
        u"FILE"_s,
        QCoreApplication::translate("main", "Traces (.fp8trace), or those of PyTorch's profiler and Nsight Systems: "
                                            "JSON, SQLite, archives and folders of ranks. The last one is shown, "
                                            "the others are listed under the file's name."),
        u"[FILE...]"_s);
}

void name(QCoreApplication& app)
{
    app.setApplicationName(u"fp8scope"_s);
    app.setOrganizationName(u"fp8scope"_s);
    app.setApplicationVersion(QStringLiteral(FP8SCOPE_VERSION));
}

int showWindow(QApplication& app, const QStringList& files)
{
    QSettings settings(QSettings::IniFormat, QSettings::UserScope, u"fp8scope"_s, u"fp8scope"_s);
    applyTheme(app, themeChoiceFrom(settings.value("window/theme"_L1).toString()));
    QApplication::setWindowIcon(QIcon(u":/fp8scope/icons/fp8scope.svg"_s));
    QApplication::setDesktopFileName(u"fp8scope"_s);
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation);
    MainWindow window(settings, {.demoProgram = DemoRunner::findProgram(), .demoOutput = folder + u"/demo.fp8trace"_s});
    for (const QString& file : files)
        RecentFiles(settings).add(file);
    if (!files.isEmpty())
        window.openFile(files.last());
    window.show();
    return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv)
{
    QCommandLineParser parser;
    describe(parser);
    QStringList arguments;
    for (int i = 0; i < argc; ++i)
        arguments.append(QString::fromLocal8Bit(argv[i]));
    const bool parsed = parser.parse(arguments);

    if (!parsed || parser.isSet(u"help"_s) || parser.isSet(u"version"_s)) {
        QCoreApplication app(argc, argv);  // no display is asked for
        name(app);
        if (!parsed) {
            std::fprintf(stderr, "fp8scope-gui: %s; see --help\n", qPrintable(parser.errorText()));
            return kUsageError;
        }
        const QString text = parser.isSet(u"version"_s) ? QString(u"fp8scope-gui "_s + app.applicationVersion() + u'\n')
                                                        : parser.helpText();
        std::fputs(qPrintable(text), stdout);
        return 0;
    }
    const bool exporting = parser.isSet(u"export-pdf"_s);
    if (exporting && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    // On servers without a login session Qt warns of a folder that an export has no use for.
    if (exporting && qEnvironmentVariableIsEmpty("XDG_RUNTIME_DIR"))
        QLoggingCategory::setFilterRules(u"default.warning=false"_s);
    QApplication app(argc, argv);
    name(app);
    if (exporting)
        return exportReports(parser.value(u"export-pdf"_s), parser.positionalArguments());
    return showWindow(app, parser.positionalArguments());
}

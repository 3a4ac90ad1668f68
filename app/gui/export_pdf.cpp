// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/export_pdf.h"

#include "app/gui/pdf/pdf_report.h"
#include "app/gui/text.h"
#include "app/gui/trace_loader.h"
#include "collector/trace/error.h"

#include <QDate>
#include <QDir>
#include <QFileInfo>

#include <cstdio>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

bool exportOne(const QString& file, const QString& pdf)
{
    try {
        const auto loaded = readAndAnalyse(file, {});
        const int pages = writePdf(reportOf(*loaded, QDate::currentDate().toString(Qt::ISODate)), pdf);
        std::printf("%s: %d pages\n", qPrintable(pdf), pages);
        return true;
    } catch (const Error& error) {
        std::fprintf(stderr, "fp8scope-gui: %s\n", error.what());
        return false;
    }
}

}  // namespace

int exportReports(const QString& out, const QStringList& files)
{
    constexpr int kUsageError = 2;
    if (files.isEmpty()) {
        std::fputs("fp8scope-gui: --export-pdf needs a trace; see --help\n", stderr);
        return kUsageError;
    }
    const bool intoFolder = files.size() > 1 || QFileInfo(out).isDir();
    if (intoFolder && !QDir().mkpath(out)) {
        std::fprintf(stderr, "fp8scope-gui: %s: the folder cannot be made\n", qPrintable(out));
        return 1;
    }
    bool all = true;
    for (const QString& file : files) {
        const QString pdf = intoFolder ? QString(out + u'/' + QFileInfo(file).completeBaseName() + u".pdf"_s) : out;
        all = exportOne(file, pdf) && all;
    }
    return all ? 0 : 1;
}

}  // namespace fp8scope::gui

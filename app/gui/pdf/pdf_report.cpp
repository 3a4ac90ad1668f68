// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pdf/pdf_report.h"

#include "app/gui/pdf/pdf_blocks.h"
#include "app/gui/text.h"
#include "collector/trace/error.h"

#include <QBuffer>
#include <QFileInfo>
#include <QSaveFile>

#include <variant>

namespace fp8scope::gui {

namespace {

int drawReport(QIODevice& device, const report::Report& report, int pageCount)
{
    PdfPage page(device, toQt(report.title), toQt(report.originLine), pageCount);
    drawTitle(page, report);
    constexpr double kHeading = 32;
    for (std::size_t i = 0; i < report.blocks.size(); ++i) {
        const report::Block& block = report.blocks[i];
        if (std::holds_alternative<report::Heading>(block) && i + 1 < report.blocks.size())
            page.ensure(kHeading + firstHeight(report.blocks[i + 1]));  // a heading alone at a page's foot helps nobody
        std::visit([&page](const auto& known) { draw(page, known); }, block);
    }
    return page.pages();
}

}  // namespace

int writePdf(const report::Report& report, const QString& path)
{
    // The first time only counts the pages, for "3 of 7".
    QBuffer trial;
    trial.open(QIODevice::WriteOnly);
    const int pages = drawReport(trial, report, 0);

    QSaveFile file(path);
    const auto failed = [&] {
        return Error("the PDF cannot be written: " + toStd(file.errorString()), toStd(path),
                     "choose a folder that you may write to and that has space");
    };
    if (!file.open(QIODevice::WriteOnly))
        throw failed();
    drawReport(file, report, pages);
    if (!file.commit())
        throw failed();
    return pages;
}

report::Report reportOf(const LoadedTrace& loaded, const QString& madeAt)
{
    return report::buildReport(loaded.trace, loaded.overview, toStd(QFileInfo(loaded.path).fileName()), toStd(madeAt));
}

}  // namespace fp8scope::gui

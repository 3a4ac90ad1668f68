// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/tables/kernels_model.h"

#include "app/gui/doors.h"
#include "app/gui/text.h"
#include "app/gui/theme.h"

#include <algorithm>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

Cell nsCell(std::int64_t ns) { return {.text = timeText(ns), .sort = QVariant::fromValue<qint64>(ns)}; }

Cell rateCell(double perSecond, std::string (*format)(double))
{
    return {.text = perSecond > 0 ? toQt(format(perSecond)) : u"\u2013"_s, .sort = perSecond};
}

}  // namespace

KernelsModel::KernelsModel(QObject* parent) : TableModel(parent)
{
    m_columns = {
        {tr("Run"), {}, tr("Mode of the run")},
        {tr("Kernel"), {}, tr("Name of the kernel or op")},
        {tr("Family"), {}, tr("What the first chart counts it to")},
        {tr("Role"), {}, tr("What it does")},
        {tr("Calls"), {}, tr("Calls a step, mean over the steps used"), true},
        {tr("Exposed"), {}, tr("Time a step in which it is what the step waits for"), true},
        {tr("Share"), {}, tr("Exposed time over the step"), true},
        {tr("Busy"), {}, tr("Sum of its durations in a step"), true},
        {tr("Median"), {}, tr("Of one call"), true},
        {tr("p95"), {}, tr("95 of 100 calls are shorter"), true},
        {tr("Min"), {}, tr("Shortest call"), true},
        {tr("Max"), {}, tr("Longest call; double-click goes there"), true},
        {tr("Arithmetic"), {}, tr("Achieved FLOP/s: the op's FLOPs over its busy time"), true},
        {tr("Memory"), {}, tr("Achieved bytes/s: the least bytes the op must move over its busy time"), true},
    };
}

void KernelsModel::setTrace(std::shared_ptr<const LoadedTrace> loaded, const std::vector<RunId>& runs)
{
    beginResetModel();
    m_loaded = std::move(loaded);
    m_rows.clear();
    m_largestNs = 0;
    for (const RunId run : m_loaded ? runs : std::vector<RunId>{}) {
        const analysis::Breakdown* breakdown = breakdownOf(m_loaded->overview, run);
        for (std::size_t i = 0; breakdown && i < breakdown->kernels.size(); ++i) {
            m_rows.push_back({run, &breakdown->kernels[i], breakdown->stepNs});
            m_largestNs = std::max(m_largestNs, breakdown->kernels[i].exposedNs);
        }
    }
    endResetModel();
}

Cell KernelsModel::cell(int row, int column) const
{
    const Row& known = at(row);
    const analysis::KernelTime& kernel = *known.kernel;
    const Trace& trace = m_loaded->trace;
    switch (column) {
    case Run: return {.text = toQt(trace.run(known.run).mode), .sort = known.run.value};
    case Name: {
        const QString name = toQt(trace.name(kernel.name).text);
        return {.text = name, .tooltip = name};
    }
    case FamilyName: return {.text = familyText(kernel.family), .swatch = currentTheme().family(kernel.family)};
    case RoleName: return {.text = toQt(toString(kernel.role))};
    case Calls:
        return {.text = QLocale().toString(kernel.countPerStep, 'f', kernel.countPerStep < 10 ? 1 : 0),
                .sort = kernel.countPerStep};
    case Exposed: {
        Cell cell = nsCell(kernel.exposedNs);
        cell.bar = m_largestNs > 0 ? static_cast<double>(kernel.exposedNs) / static_cast<double>(m_largestNs) : 0;
        cell.swatch = currentTheme().family(kernel.family);
        return cell;
    }
    case Share: {
        const double share =
            known.stepNs > 0 ? static_cast<double>(kernel.exposedNs) / static_cast<double>(known.stepNs) : 0;
        return {.text = toQt(analysis::formatPercent(share)), .sort = share};
    }
    case Busy: return nsCell(kernel.busyNs);
    case Median: return nsCell(kernel.medianNs);
    case P95: return nsCell(kernel.p95Ns);
    case Min: return nsCell(kernel.minNs);
    case Max: return nsCell(kernel.maxNs);
    case Flops: return rateCell(kernel.flopsPerSecond, analysis::formatFlops);
    case Bytes: return rateCell(kernel.bytesPerSecond, analysis::formatBandwidth);
    default: return {};
    }
}

int KernelsModel::rowOf(const Selection& selection) const
{
    const auto matches = [&](const Row& row) {
        if (selection.run.valid() && row.run != selection.run)
            return false;
        if (selection.op.valid() && row.kernel->op == selection.op)
            return true;
        return selection.name.valid() && row.kernel->name == selection.name;
    };
    const auto found = std::find_if(m_rows.begin(), m_rows.end(), matches);
    return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

}  // namespace fp8scope::gui

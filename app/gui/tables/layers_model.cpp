// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/tables/layers_model.h"

#include "app/gui/doors.h"
#include "app/gui/text.h"
#include "app/gui/theme.h"

#include <algorithm>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

enum Leading { Name, Shape, LeadingCount };
/// The columns of a run's group.
enum Part { Precision, Total, Gemm, Quantization, Rest, Change, PartCount };

std::int64_t gemmNs(const analysis::LayerTime& time)
{
    return time.family(Family::GemmFp8) + time.family(Family::Gemm16) + time.family(Family::GemmOther);
}

Family gemmFamily(const analysis::LayerTime& time)
{
    return time.family(Family::GemmFp8) > 0 ? Family::GemmFp8 : Family::Gemm16;
}

Cell nsCell(std::int64_t ns)
{
    return {.text = ns == 0 ? u"\u2013"_s : timeText(ns), .sort = QVariant::fromValue<qint64>(ns)};
}

}  // namespace

void LayersModel::setTrace(std::shared_ptr<const LoadedTrace> loaded, std::vector<RunId> runs)
{
    beginResetModel();
    m_loaded = std::move(loaded);
    m_runs = std::move(runs);
    collectRows();
    makeColumns();
    endResetModel();
}

void LayersModel::collectRows()
{
    m_rows.clear();
    m_largestNs = 0;
    if (!m_loaded)
        return;
    std::optional<Row> layerless;
    for (std::size_t r = 0; r < m_runs.size(); ++r) {
        const analysis::Breakdown* run = breakdownOf(m_loaded->overview, m_runs[r]);
        for (std::size_t i = 0; run && i < run->layers.size(); ++i) {
            const analysis::LayerTime& time = run->layers[i];
            m_largestNs = std::max(m_largestNs, time.total());
            if (!time.layer.valid()) {
                if (!layerless)
                    layerless = Row{tr("(no layer)"), {}, 0, std::vector<const analysis::LayerTime*>(m_runs.size())};
                layerless->times[r] = &time;
                continue;
            }
            const Layer& layer = m_loaded->trace.layer(time.layer);
            const QString name = toQt(layer.name);
            auto row = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& known) { return known.name == name; });
            if (row == m_rows.end()) {
                const bool hasShape = layer.inFeatures > 0;  // an imported module's need not be
                m_rows.push_back(
                    {name, hasShape ? tr("%1 \u2192 %2").arg(layer.inFeatures).arg(layer.outFeatures) : QString(),
                     layer.inFeatures * layer.outFeatures, std::vector<const analysis::LayerTime*>(m_runs.size())});
                row = m_rows.end() - 1;
            }
            row->times[r] = &time;
        }
    }
    if (layerless)
        m_rows.push_back(std::move(*layerless));
}

void LayersModel::makeColumns()
{
    m_columns = {{tr("Layer"), {}, tr("As named by the run's plan or the traced program")},
                 {tr("In \u2192 out"), {}, tr("Features of the layer's input and output"), true}};
    for (std::size_t r = 0; r < m_runs.size() && m_loaded; ++r) {
        const QString mode = toQt(m_loaded->trace.run(m_runs[r]).mode);
        m_columns.push_back({tr("In"), mode, tr("Precision of the layer's GEMMs; hover a cell for the reason")});
        m_columns.push_back({tr("Step"), mode, tr("Exposed time of the layer in a typical step"), true});
        m_columns.push_back({tr("GEMMs"), mode, tr("Exposed time of its forward, dgrad and wgrad GEMMs"), true});
        m_columns.push_back({tr("Quantize"), mode, tr("Exposed time of amax, scale, cast and transpose"), true});
        m_columns.push_back({tr("Rest"), mode, tr("Bias, activation, optimizer and all else of the layer"), true});
        if (r > 0)
            m_columns.push_back(
                {tr("Change"), mode,
                 tr("Step time against %1; less is better").arg(toQt(m_loaded->trace.run(m_runs[0]).mode)), true});
    }
}

RunId LayersModel::runOfColumn(int column) const
{
    int rest = column - LeadingCount;
    for (std::size_t r = 0; rest >= 0 && r < m_runs.size(); ++r) {
        const int width = r == 0 ? PartCount - 1 : PartCount;
        if (rest < width)
            return m_runs[r];
        rest -= width;
    }
    return RunId::none();
}

Cell LayersModel::cell(int row, int column) const
{
    if (column < LeadingCount)
        return leadingCell(row, column);
    const int rest = column - LeadingCount;
    const int first = PartCount - 1;  // the first run has no Change
    const std::size_t run = rest < first ? 0 : static_cast<std::size_t>(1 + (rest - first) / PartCount);
    const int part = rest < first ? rest : (rest - first) % PartCount;
    return timeCell(m_rows[static_cast<std::size_t>(row)], run, part);
}

Cell LayersModel::leadingCell(int row, int column) const
{
    const Row& known = m_rows[static_cast<std::size_t>(row)];
    if (column == Shape)
        return {.text = known.shape, .sort = QVariant::fromValue<qint64>(known.weights)};
    return {.text = known.name, .sort = row};  // the model's order, not the alphabet's
}

Cell LayersModel::timeCell(const Row& row, std::size_t run, int part) const
{
    const analysis::LayerTime* time = row.times[run];
    if (!time)
        return {.text = u"\u2013"_s, .sort = QVariant::fromValue<qint64>(-1)};
    const std::int64_t quantizationNs = time->family(Family::Quantization);
    switch (part) {
    case Precision: {
        if (!time->layer.valid())
            return {};
        const Layer& layer = m_loaded->trace.layer(time->layer);
        return {.text = toQt(layer.precision), .tooltip = toQt(layer.reason)};
    }
    case Total: {
        Cell cell = nsCell(time->total());
        cell.bar = m_largestNs > 0 ? static_cast<double>(time->total()) / static_cast<double>(m_largestNs) : 0;
        cell.swatch = currentTheme().family(gemmFamily(*time));
        return cell;
    }
    case Gemm: return nsCell(gemmNs(*time));
    case Quantization: return nsCell(quantizationNs);
    case Rest: return nsCell(time->total() - gemmNs(*time) - quantizationNs);
    case Change: {
        const analysis::LayerTime* base = row.times[0];
        if (!base || base->total() == 0)
            return {.text = u"\u2013"_s};
        const double change = static_cast<double>(time->total() - base->total()) / static_cast<double>(base->total());
        const QString sign = change > 0 ? u"+"_s : u"\u2212"_s;
        return {.text = QString(sign + toQt(analysis::formatPercent(std::abs(change)))), .sort = change};
    }
    default: return {};
    }
}

LayerId LayersModel::layerAt(int row, RunId run) const
{
    const auto found = std::find(m_runs.begin(), m_runs.end(), run);
    if (found == m_runs.end() || row < 0 || row >= rows())
        return LayerId::none();
    const analysis::LayerTime* time =
        m_rows[static_cast<std::size_t>(row)].times[static_cast<std::size_t>(found - m_runs.begin())];
    return time ? time->layer : LayerId::none();
}

int LayersModel::rowOf(LayerId layer) const
{
    if (!layer.valid() || !m_loaded)
        return -1;
    const QString name = toQt(m_loaded->trace.layer(layer).name);
    const auto row = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& known) { return known.name == name; });
    return row == m_rows.end() ? -1 : static_cast<int>(row - m_rows.begin());
}

}  // namespace fp8scope::gui

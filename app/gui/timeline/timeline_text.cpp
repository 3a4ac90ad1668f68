// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/timeline_text.h"

#include "app/gui/text.h"
#include "app/gui/theme.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {
namespace {

QString tr(const char* text, int n = -1) { return QCoreApplication::translate("TimelineText", text, nullptr, n); }

const QString kDot = QStringLiteral(" · ");

QString dimmed(const QString& html)
{
    return QStringLiteral("<span style=\"color:%1\">%2</span>").arg(currentTheme().dim.name(), html);
}

QString escaped(const std::string& text) { return toQt(text).toHtmlEscaped(); }

QString titled(const std::string& name)
{
    // Kernel names are a single word for the layout; without break points a long one would widen the panel.
    QString html = escaped(name);
    html.replace(QStringLiteral("::"), QStringLiteral("::\u200B")).replace(QLatin1Char(','), QStringLiteral(",\u200B"));
    return QStringLiteral("<b>%1</b>").arg(html);
}

/// "e4m3 × e4m3 → bf16"; only what is known.
QString typesText(const TraceOp& op)
{
    QStringList inputs;
    for (const std::string& type : {op.aType, op.bType}) {
        if (!type.empty())
            inputs << escaped(type);
    }
    QString text = inputs.join(QStringLiteral(" × "));
    if (!op.dType.empty())
        text += QStringLiteral(" → ") + escaped(op.dType);
    return text;
}

QString shapeText(const TraceOp& op)
{
    if (op.m <= 0 || op.n <= 0)
        return {};
    if (op.k > 0)
        return QStringLiteral("M %1 N %2 K %3").arg(op.m).arg(op.n).arg(op.k);
    return QStringLiteral("%1 × %2").arg(op.m).arg(op.n);
}

void addLayer(QStringList& parts, const Trace& trace, LayerId layer)
{
    if (layer.valid())
        parts << escaped(trace.layer(layer).name);
}

/// "GEMM fp8 · layer3 · forward · M 8192 N 16384 K 8192 · e4m3 × e4m3 → bf16 · tensorwise".
QString whatText(const Trace& trace, const Track& track, std::uint32_t index)
{
    QStringList parts{familyText(analysis::familyOfSlice(trace, track, index))};
    const OpId id = track.slices.op[index];
    if (id.valid()) {
        const TraceOp& op = trace.op(id);
        addLayer(parts, trace, op.layer);
        if (op.phase != Phase::Other)
            parts << toQt(toString(op.phase));
        for (const QString& part : {shapeText(op), typesText(op), escaped(op.recipe)})
            parts << part;
        if (!op.epilogue.empty())
            parts << tr("epilogue %1").arg(escaped(op.epilogue));
    }
    const Name& name = trace.name(track.slices.name[index]);
    parts << escaped(name.library);
    parts.removeAll(QString());
    return parts.join(kDot);
}

/// The matrix peak that an op can reach on its device; 0 where unknown.
double peakFlops(const Trace& trace, const Track& track, Family family)
{
    if (!track.device.valid())
        return 0;
    const Device& device = trace.devices[track.device.value];
    switch (family) {
    case Family::GemmFp8: return device.hasFp8 ? device.peakFp8 : device.peak16;
    case Family::Gemm16: return device.peak16;
    case Family::GemmOther: return device.peak32;
    default: return 0;
    }
}

QString withShare(const QString& rate, double value, double peak)
{
    return peak > 0 ? tr("%1 (%2 of peak)").arg(rate, toQt(analysis::formatPercent(value / peak))) : rate;
}

/// FLOP/s of a GEMM, bytes/s of anything else whose bytes are known.
QString rateText(const Trace& trace, const Track& track, std::uint32_t index)
{
    const auto durNs = static_cast<double>(track.slices.durNs[index]);
    if (durNs <= 0)
        return {};
    const OpId id = track.slices.op[index];
    const Family family = analysis::familyOfSlice(trace, track, index);
    if (id.valid() && trace.op(id).role == Role::Gemm && trace.op(id).flops > 0) {
        const double rate = trace.op(id).flops / durNs * 1e9;
        return withShare(toQt(analysis::formatFlops(rate)), rate, peakFlops(trace, track, family));
    }
    const auto& copied = track.slices.bytes;
    const std::uint64_t bytes = !copied.empty() && copied[index] > 0 ? copied[index]
                                : id.valid()                         ? trace.op(id).bytes
                                                                     : 0;
    if (bytes == 0)
        return {};
    const double rate = static_cast<double>(bytes) / durNs * 1e9;
    const double peak = track.device.valid() ? trace.devices[track.device.value].peakBandwidth : 0;
    return toQt(analysis::formatBytes(bytes)) + kDot + withShare(toQt(analysis::formatBandwidth(rate)), rate, peak);
}

QString durationText(std::int64_t ns) { return ns > 0 ? timeText(ns) : tr("no duration recorded"); }

QString launchText(const Trace& trace, const Track& track, std::uint32_t index)
{
    const auto& shapes = track.slices.launchShape;
    if (shapes.empty() || !shapes[index].valid())
        return {};
    const LaunchShape& shape = trace.launchShapes[shapes[index].value];
    return QStringLiteral("grid %1×%2×%3, block %4×%5×%6, %7 registers")
        .arg(shape.grid[0])
        .arg(shape.grid[1])
        .arg(shape.grid[2])
        .arg(shape.block[0])
        .arg(shape.block[1])
        .arg(shape.block[2])
        .arg(shape.registers);
}

/// The typical duration of slices of this name, from the breakdown of the run.
QString typicalText(const LoadedTrace& loaded, const Track& track, std::uint32_t index)
{
    for (const analysis::Breakdown& run : loaded.overview.runs) {
        const auto kernel = std::find_if(run.kernels.begin(), run.kernels.end(), [&](const analysis::KernelTime& k) {
            return run.run == track.run && k.name == track.slices.name[index];
        });
        if (run.run == track.run && kernel != run.kernels.end())
            return tr("usually %1 (median), 95th percentile %2")
                .arg(timeText(kernel->medianNs), timeText(kernel->p95Ns));
    }
    return {};
}

QString neighbourText(const Trace& trace, const Track& track, std::uint32_t index)
{
    const SliceColumns& slices = track.slices;
    const auto one = [&](std::size_t i) {
        return QStringLiteral("%1 %2").arg(escaped(trace.name(slices.name[i]).text.substr(0, 80)),
                                           durationText(slices.durNs[i]));
    };
    QStringList parts;
    if (index > 0) {
        const std::int64_t gap = slices.startNs[index] - slices.endNs(index - 1);
        parts << tr("after %1").arg(one(index - 1)) + (gap > 0 ? tr(" and a gap of %1").arg(timeText(gap)) : QString());
    }
    if (index + 1 < slices.size())
        parts << tr("before %1").arg(one(index + 1));
    return parts.join(kDot);
}

QString mergedText(const TimelineScene& scene, const Hit& hit, QPoint point)
{
    const Row& row = scene.rows.rows()[*hit.row];
    const auto lane = scene.laneSlices(row);
    const Pyramid* pyramid = scene.pyramid(row);
    const double from = scene.timeAt(point.x());
    const double to = from + scene.axis.nsPerPx();
    FamilyTotals totals;
    (pyramid != nullptr ? *pyramid : Pyramid())
        .addTotals(*lane, static_cast<std::int64_t>(std::floor(from)), static_cast<std::int64_t>(std::ceil(to)),
                   totals);
    QString html =
        QStringLiteral("<b>%1</b>")
            .arg(tr("%1 slices in %2 here").arg(hit.merged).arg(timeText(std::llround(scene.axis.nsPerPx()))));
    for (std::size_t f = 0; f < kSliceFamilies; ++f) {
        if (totals.count[f] > 0)
            html += QStringLiteral("<br>%1: %2, %3")
                        .arg(familyText(static_cast<Family>(f)))
                        .arg(totals.count[f])
                        .arg(timeText(std::llround(totals.busyNs[f])));
    }
    return html + QStringLiteral("<br>") + dimmed(tr("zoom in to see them one by one"));
}

}  // namespace

QString stepText(const Step& step)
{
    QString text = tr("step %1").arg(step.index) + kDot + timeText(step.durNs);
    if (std::isfinite(step.loss))
        text += kDot + tr("loss %1").arg(step.loss, 0, 'g', 4);
    return step.warmup ? text + kDot + tr("warm-up") : text;
}

QString rangeText(const TimeSpan& range) { return tr("range %1").arg(timeText(range.endNs - range.startNs)); }

QString sliceDetails(const LoadedTrace& loaded, SliceRef slice, double zeroNs)
{
    const Trace& trace = loaded.trace;
    const Track& track = trace.track(slice.track);
    const std::uint32_t i = slice.index;
    QStringList times{tr("start %1").arg(timeText(track.slices.startNs[i] - std::llround(zeroNs))),
                      QStringLiteral("<b>%1</b>").arg(durationText(track.slices.durNs[i])), rateText(trace, track, i),
                      escaped(track.name), launchText(trace, track, i)};
    times.removeAll(QString());
    QStringList lines{titled(trace.name(track.slices.name[i]).text), dimmed(whatText(trace, track, i)),
                      times.join(kDot)};
    if (const OpId op = track.slices.op[i]; op.valid() && trace.op(op).layer.valid()) {
        const Layer& layer = trace.layer(trace.op(op).layer);
        if (!layer.reason.empty())
            lines << tr("%1 runs in %2: %3").arg(escaped(layer.name), escaped(layer.precision), escaped(layer.reason));
    }
    for (const QString& line : {typicalText(loaded, track, i), neighbourText(trace, track, i)}) {
        if (!line.isEmpty())
            lines << dimmed(line);
    }
    return lines.join(QStringLiteral("<br>"));
}

QString selectionDetails(const LoadedTrace& loaded, const Selection& selection)
{
    const Trace& trace = loaded.trace;
    if (selection.layer.valid() && !selection.name.valid() && !selection.op.valid()) {
        const Layer& layer = trace.layer(selection.layer);
        QString html =
            titled(layer.name) + QStringLiteral("<br>") +
            tr("%1 in, %2 out · %3").arg(layer.inFeatures).arg(layer.outFeatures).arg(escaped(layer.precision));
        return layer.reason.empty() ? html : html + kDot + escaped(layer.reason);
    }
    const QString hint = dimmed(tr("its slices stand in full colour; press F to go to the first"));
    if (selection.name.valid())
        return titled(trace.name(selection.name).text) + QStringLiteral("<br>") + hint;
    if (selection.op.valid())
        return titled(trace.op(selection.op).name) + QStringLiteral("<br>") + hint;
    if (selection.family)
        return QStringLiteral("<b>%1</b><br>").arg(familyText(*selection.family)) + hint;
    return {};
}

QString hitText(const TimelineScene& scene, const Hit& hit, QPoint point)
{
    if (!scene.loaded || !hit.row)
        return {};
    const Trace& trace = scene.loaded->trace;
    if (hit.step)
        return stepText(trace.steps[*hit.step]);
    if (point.x() < TimelineScene::kLabelWidth)
        return scene.rows.rows()[*hit.row].label.toHtmlEscaped();
    if (!hit.slice.valid())
        return {};
    if (hit.merged > 0)
        return mergedText(scene, hit, point);
    const Track& track = trace.track(hit.slice.track);
    const std::uint32_t i = hit.slice.index;
    return titled(trace.name(track.slices.name[i]).text.substr(0, 200)) + QStringLiteral("<br>") +
           durationText(track.slices.durNs[i]) + kDot + whatText(trace, track, i);
}

Selection selectionOf(const Trace& trace, SliceRef slice)
{
    const Track& track = trace.track(slice.track);
    Selection selection{.run = track.run,
                        .slice = slice,
                        .name = track.slices.name[slice.index],
                        .op = track.slices.op[slice.index],
                        .layer = {},
                        .family = {}};
    if (selection.op.valid())
        selection.layer = trace.op(selection.op).layer;
    return selection;
}

}  // namespace fp8scope::gui

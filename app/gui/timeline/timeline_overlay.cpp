// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/timeline_overlay.h"

#include "app/gui/theme.h"
#include "app/gui/timeline/timeline_painter.h"
#include "app/gui/timeline/timeline_text.h"

#include <QPainter>
#include <QPolygonF>

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {
namespace {

constexpr double kTickGapPx = 90;

/// Crisp lines: QPainter's antialiasing would smear a vertical line over two columns.
int pixel(double x) { return static_cast<int>(std::floor(x)); }

QRect sliceRect(const TimelineScene& scene, SliceRef slice)
{
    const Trace& trace = scene.loaded->trace;
    const auto row = scene.rows.rowOf(slice.track, laneOf(trace, slice));
    if (!row)
        return {};
    const SliceColumns& columns = trace.track(slice.track).slices;
    const Row& r = scene.rows.rows()[*row];
    // Far outside the canvas is as good as anywhere outside, and fits an int.
    const double limit = scene.size.width() + 100.0;
    const int left = pixel(std::clamp(scene.xOf(static_cast<double>(columns.startNs[slice.index])), -100.0, limit));
    const int right = pixel(std::clamp(scene.xOf(static_cast<double>(columns.endNs(slice.index))), -100.0, limit));
    return {left, scene.rowTop(r) + kSliceInset, std::max(right - left, 2), r.height - 2 * kSliceInset};
}

void drawHeaderLabel(QPainter& painter, const TimelineScene& scene, const Row& row, const QRect& cell)
{
    const Theme& theme = currentTheme();
    painter.setPen(theme.text);
    QFont font = painter.font();
    font.setBold(row.kind == Row::Kind::RunHeader);
    painter.save();
    painter.setFont(font);
    const QString text = (row.collapsed ? QStringLiteral("▸ ") : QStringLiteral("▾ ")) + row.label;
    // Headers have the row to themselves, so a long device name may run on over the canvas.
    painter.drawText(cell.adjusted(0, 0, scene.canvas().width() / 2, 0), Qt::AlignVCenter | Qt::AlignLeft, text);
    painter.restore();
}

}  // namespace

void drawRuler(QPainter& painter, const TimelineScene& scene)
{
    const Theme& theme = currentTheme();
    painter.fillRect(QRect(0, 0, scene.size.width(), TimelineScene::kRulerHeight), theme.panel);
    painter.save();
    painter.setClipRect(QRect(TimelineScene::kLabelWidth, 0, scene.canvas().width(), TimelineScene::kRulerHeight));
    for (const Tick& tick : ticks(scene.axis, scene.zeroNs, kTickGapPx)) {
        const int x = pixel(scene.xOf(tick.ns));
        painter.setPen(theme.line);
        painter.drawLine(x, TimelineScene::kRulerHeight - 6, x, TimelineScene::kRulerHeight);
        painter.setPen(theme.dim);
        painter.drawText(QRect(x + 3, 0, 120, TimelineScene::kRulerHeight), Qt::AlignVCenter | Qt::AlignLeft,
                         QString::fromStdString(tick.label));
    }
    painter.restore();
    painter.setPen(theme.line);
    painter.drawLine(0, TimelineScene::kRulerHeight - 1, scene.size.width(), TimelineScene::kRulerHeight - 1);
}

void drawGrid(QPainter& painter, const TimelineScene& scene)
{
    painter.setPen(currentTheme().line);
    for (const Tick& tick : ticks(scene.axis, scene.zeroNs, kTickGapPx)) {
        const int x = pixel(scene.xOf(tick.ns));
        painter.drawLine(x, scene.canvas().top(), x, scene.canvas().bottom());
    }
}

void drawLabels(QPainter& painter, const TimelineScene& scene)
{
    const Theme& theme = currentTheme();
    const QRect pane(0, TimelineScene::kRulerHeight, TimelineScene::kLabelWidth, scene.canvas().height());
    painter.fillRect(pane, theme.panel);
    painter.save();
    painter.setClipRect(QRect(0, pane.top(), scene.size.width(), pane.height()));
    const auto& rows = scene.rows.rows();
    for (std::size_t r = scene.rows.firstRowBelow(scene.scrollY); r < rows.size(); ++r) {
        const int top = scene.rowTop(rows[r]);
        if (top >= scene.size.height())
            break;
        const QRect cell(6 + 8 * rows[r].depth, top, TimelineScene::kLabelWidth - 12 - 8 * rows[r].depth,
                         rows[r].height - 1);
        if (rows[r].isHeader()) {
            drawHeaderLabel(painter, scene, rows[r], cell);
        } else {
            painter.setPen(theme.dim);
            painter.drawText(cell, Qt::AlignVCenter | Qt::AlignLeft,
                             painter.fontMetrics().elidedText(rows[r].label, Qt::ElideRight, cell.width()));
        }
        painter.setPen(theme.line);
        painter.drawLine(0, top + rows[r].height - 1, TimelineScene::kLabelWidth, top + rows[r].height - 1);
        if (!rows[r].isHeader())
            painter.drawLine(TimelineScene::kLabelWidth - 1, top, TimelineScene::kLabelWidth - 1,
                             top + rows[r].height - 1);
    }
    painter.restore();
}

void drawSteps(QPainter& painter, const TimelineScene& scene, const Row& row)
{
    const Theme& theme = currentTheme();
    const auto& steps = scene.loaded->trace.steps;
    const int top = scene.rowTop(row) + kSliceInset;
    const int height = row.height - 2 * kSliceInset - 1;
    int drawnTo = scene.canvas().left() - 1;
    for (const Step& step : steps) {
        const double left = std::max(scene.xOf(static_cast<double>(step.startNs)), scene.canvas().left() - 1.0);
        const double right =
            std::min(scene.xOf(static_cast<double>(step.startNs + step.durNs)), scene.size.width() + 1.0);
        // Steps that end in a column already drawn add nothing to see.
        if (step.run != row.run || right < scene.canvas().left() || left > scene.size.width() ||
            pixel(right) <= drawnTo)
            continue;
        drawnTo = pixel(right);
        const QRect box(pixel(left), top, std::max(pixel(right) - pixel(left) - 1, 1), height);
        const QColor fill = step.warmup ? theme.family(Family::Idle) : theme.family(Family::OtherCompute);
        painter.fillRect(box, fill);
        if (box.width() < 40)
            continue;
        painter.setPen(Theme::textOn(fill));
        const QRect text = box.adjusted(4, 0, -4, 0);
        painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft,
                         painter.fontMetrics().elidedText(stepText(step), Qt::ElideRight, text.width()));
    }
}

void drawCounter(QPainter& painter, const TimelineScene& scene, const Row& row)
{
    const auto found = scene.counters.find(row.track);
    if (found == scene.counters.end())
        return;
    const Theme& theme = currentTheme();
    const CounterSeries& series = found->second;
    const int top = scene.rowTop(row) + 5;
    const double height = row.height - 11;
    const auto y = [&](double value) {
        return series.high > series.low ? top + height * (series.high - value) / (series.high - series.low)
                                        : top + height / 2;
    };
    // From the last sample before the picture to the first after it, so that the line enters and leaves.
    auto sample = std::partition_point(series.samples.begin(), series.samples.end(), [&](const Sample& s) {
        return static_cast<double>(s.timeNs) < scene.axis.startNs;
    });
    if (sample != series.samples.begin())
        --sample;
    QPolygonF line;
    for (; sample != series.samples.end(); ++sample) {
        const double x = scene.xOf(static_cast<double>(sample->timeNs));
        // Of the samples in one column all are joined, so no spike is lost; their strokes fall on one another.
        line << QPointF(std::clamp(x, -1e6, 1e6), y(sample->value));
        if (x > scene.size.width())
            break;
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.accent, 1.2));
    painter.drawPolyline(line);
    painter.setPen(theme.dim);
    const QRect text(scene.canvas().left() + 4, scene.rowTop(row), 200, row.height);
    painter.drawText(text, Qt::AlignTop | Qt::AlignLeft, QString::number(series.high, 'g', 4));
    painter.drawText(text, Qt::AlignBottom | Qt::AlignLeft, QString::number(series.low, 'g', 4));
    painter.restore();
}

void drawRange(QPainter& painter, const TimelineScene& scene)
{
    if (!scene.range)
        return;
    const Theme& theme = currentTheme();
    const double limit = scene.size.width() + 10.0;
    const int left = pixel(std::clamp(scene.xOf(static_cast<double>(scene.range->startNs)), -10.0, limit));
    const int right = pixel(std::clamp(scene.xOf(static_cast<double>(scene.range->endNs)), -10.0, limit));
    const QRect area(left, scene.canvas().top(), std::max(right - left, 1), scene.canvas().height());
    QColor shade = theme.accent;
    shade.setAlphaF(theme.dark ? 0.12F : 0.08F);
    painter.fillRect(area, shade);
    painter.setPen(theme.accent);
    painter.drawLine(left, area.top(), left, area.bottom());
    painter.drawLine(right, area.top(), right, area.bottom());
    const QString text = rangeText(*scene.range);
    const QRect seen = area.intersected(scene.canvas());
    if (seen.isEmpty())
        return;
    const int width = painter.fontMetrics().horizontalAdvance(text) + 12;
    QRect label(seen.center().x() - width / 2, scene.canvas().bottom() - 22, width, 18);
    label.moveLeft(
        std::clamp(label.left(), scene.canvas().left(), std::max(scene.canvas().left(), scene.size.width() - width)));
    painter.fillRect(label, theme.background);
    painter.drawText(label, Qt::AlignCenter, text);
}

void drawOutlines(QPainter& painter, const TimelineScene& scene)
{
    if (!scene.loaded)
        return;
    const Theme& theme = currentTheme();
    painter.setBrush(Qt::NoBrush);
    if (scene.hover.slice.valid() && scene.hover.slice != scene.selection.slice) {
        painter.setPen(theme.text);
        painter.drawRect(sliceRect(scene, scene.hover.slice).adjusted(0, 0, -1, -1));
    }
    if (scene.selection.slice.valid()) {
        const QRect rect = sliceRect(scene, scene.selection.slice);
        if (!rect.isNull()) {
            painter.setPen(QPen(theme.text, 2));
            painter.drawRect(rect.adjusted(-1, 0, 0, 0));
        }
    }
}

}  // namespace fp8scope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
// How fast the timeline draws ten million slices on 64 rows at 1920x1080: paints through a scripted zoom and pan from
// the whole trace to single slices, hover, the time until the pyramids are complete, and their memory. Printed beside a
// yardstick of this machine and this run, 100,000 rectangles filled through QPainter, because absolute times say little
// on a shared machine. Usage: bench_timeline [slices]; run with QT_QPA_PLATFORM=offscreen. Exits with 1 if a target of
// the app's issue is missed.
#include "app/gui/theme.h"
#include "app/gui/timeline/timeline_painter.h"
#include "app/gui/timeline/timeline_text.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPainter>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include <time.h>

namespace fp8scope::gui {
namespace {

constexpr std::uint32_t kRows = 64;
constexpr QSize kWindow(1920, 1080);

/// 64 queues, each the same training step again and again with jitter: a GEMM between short casts, bias and activation
/// kernels.
Trace makeTrace(std::size_t slices)
{
    Trace trace;
    trace.runs.push_back({.mode = "fp8", .origin = Origin::MeasuredGpu, .complete = true});
    trace.processes.push_back({1, "train", "host", 0});
    trace.devices.push_back({.name = "GPU", .kind = "gpu", .hasFp8 = true});
    constexpr std::array kRoles{Role::Amax, Role::Cast,       Role::Transpose, Role::Gemm,
                                Role::Bias, Role::Activation, Role::Optimizer};
    constexpr std::array<std::int64_t, 7> kMeanNs{15'000, 18'000, 14'000, 104'000, 39'000, 38'000, 92'000};
    for (std::size_t i = 0; i < 40; ++i) {
        trace.names.push_back({.text = fmt::format("kernel_{}_of_layer_{}", i % kRoles.size(), i / kRoles.size()),
                               .role = kRoles[i % kRoles.size()],
                               .precision = Precision::Fp8});
    }
    std::mt19937_64 random(1);
    for (std::uint32_t t = 0; t < kRows; ++t) {
        Track track;
        track.run = RunId(0);
        track.process = ProcessId(0);
        track.device = DeviceId(0);
        track.name = fmt::format("stream {}", t);
        std::int64_t now = 0;
        for (std::size_t i = 0; i < slices / kRows; ++i) {
            const std::int64_t mean = kMeanNs[i % kMeanNs.size()];
            const std::int64_t duration = mean + static_cast<std::int64_t>(random() % 4'000);
            track.slices.startNs.push_back(now);
            track.slices.durNs.push_back(duration);
            track.slices.name.push_back(NameId(static_cast<std::uint32_t>(i % 40)));
            track.slices.op.push_back(OpId::none());
            now += duration + 1'000 + static_cast<std::int64_t>(random() % 900);
        }
        trace.tracks.push_back(std::move(track));
    }
    finishTracks(trace);
    trace.runs[0].endNs = trace.timeRange().endNs;
    return trace;
}

double wallMs(const std::function<void()>& work)
{
    QElapsedTimer timer;
    timer.start();
    work();
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

/// The thread's processor time: on an idle machine as long as the wall's, on a shared one still about the code.
double milliseconds(const std::function<void()>& work)
{
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
    };
    const double start = now();
    work();
    return now() - start;
}

double quantile(std::vector<double> values, double share)
{
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

double yardstickMs()
{
    QImage image(kWindow, QImage::Format_RGB32);
    std::vector<double> times;
    for (int round = 0; round < 9; ++round) {
        times.push_back(milliseconds([&] {
            QPainter painter(&image);
            for (int i = 0; i < 100'000; ++i)
                painter.fillRect(i % 1900, (i / 1900) * 20, 9, 18, QColor::fromRgb(static_cast<QRgb>(i) * 2654435761U));
        }));
    }
    return quantile(times, 0.5);
}

/// The axes of a user's journey: in at a place in 60 steps to single slices, along it, and out again; at four places.
std::vector<TimeAxis> journey(const TimeAxis& whole)
{
    std::vector<TimeAxis> axes;
    for (const double place : {0.1, 0.37, 0.62, 0.93}) {
        TimeAxis axis = whole;
        const double factor = std::pow(axis.spanNs / 400'000, 1.0 / 60);
        for (int i = 0; i < 60; ++i) {
            axis.zoom(factor, place * axis.widthPx);
            axes.push_back(axis);
            axis.pan(35);
            axes.push_back(axis);
        }
        for (int i = 0; i < 30; ++i) {
            axis.zoom(1 / (factor * factor), 0.5 * axis.widthPx);
            axes.push_back(axis);
        }
    }
    return axes;
}

int report(const char* what, double value, const char* unit, double target)
{
    const bool met = value <= target;
    fmt::print("{:44} {:8.2f} {:8} target {:6.1f}  {}\n", what, value, unit, target, met ? "met" : "MISSED");
    return met ? 0 : 1;
}

int run(std::size_t slices)
{
    auto loaded = std::make_shared<LoadedTrace>();
    loaded->trace = makeTrace(slices);
    TimelineScene scene;
    TimelineIndex index;
    scene.loaded = loaded;
    scene.index = &index;
    scene.size = kWindow;
    scene.rows.rebuild(&loaded->trace, [](RunId) { return true; });
    const Trace::TimeRange range = loaded->trace.timeRange();
    scene.axis.setBounds(static_cast<double>(range.startNs), static_cast<double>(range.endNs));
    scene.axis.setWidth(scene.canvas().width());
    TimelinePainter timelinePainter;
    QImage image(kWindow, QImage::Format_RGB32);
    QFont font;
    font.setPixelSize(11);
    const auto paint = [&] {
        timelinePainter.invalidate();
        QPainter painter(&image);
        timelinePainter.paint(painter, scene, font);
    };

    const double firstMs = milliseconds(paint);
    const double indexMs = wallMs([&] {
        QEventLoop loop;
        QObject::connect(&index, &TimelineIndex::completed, &loop, &QEventLoop::quit);
        index.start(loaded);
        loop.exec();
    });
    std::vector<double> paints;
    const TimeAxis whole = scene.axis;
    int turn = 0;
    for (const TimeAxis& axis : journey(whole)) {
        scene.axis = axis;
        scene.scrollY = (turn++ / 10 * 120) % std::max(1, scene.rows.height() - scene.canvas().height());
        paints.push_back(milliseconds(paint));
    }
    std::vector<double> selected;
    scene.emphasis = Emphasis(loaded, Selection{.name = NameId(3)});
    for (const TimeAxis& axis : journey(whole)) {
        scene.axis = axis;
        selected.push_back(milliseconds(paint));
    }
    std::vector<double> hovers;
    scene.axis = whole;
    int labelled = 0;
    for (int i = 0; i < 500; ++i) {
        const QPoint point(200 + (i * 37) % 1700, 60 + (i * 53) % 1000);
        hovers.push_back(milliseconds([&] {
            scene.hover = scene.hitTest(point);
            labelled += hitText(scene, scene.hover, point).isEmpty() ? 0 : 1;
            QPainter painter(&image);
            timelinePainter.paint(painter, scene, font);
        }));
    }

    const double yardstick = yardstickMs();
    const auto count = static_cast<double>(loaded->trace.sliceCount());
    fmt::print("{} slices on {} rows, {}x{}, {} paints\n", loaded->trace.sliceCount(), kRows, kWindow.width(),
               kWindow.height(), paints.size());
    fmt::print("{:44} {:8.2f} ms\n", "yardstick: 100,000 QPainter::fillRect", yardstick);
    fmt::print("{:44} {:8.2f} of the yardstick; worst {:.2f} ms\n", "paint, median", quantile(paints, 0.5) / yardstick,
               quantile(paints, 1));
    fmt::print("{:44} {:8.2f} ms, with the index not begun\n", "first picture", firstMs);
    fmt::print("{:44} {:8.2f} ms, median; 99% {:.2f} ms (the first visits every slice)\n", "paint with a name selected",
               quantile(selected, 0.5), quantile(selected, 0.99));
    fmt::print("{:44} {:8.1f} million slices/s\n", "index", count / indexMs / 1e3);
    fmt::print("{:44} {:8} of 500\n", "hovers with a tooltip", labelled);
    int missed = report("paint, median", quantile(paints, 0.5), "ms", 8);
    missed += report("paint, 99%", quantile(paints, 0.99), "ms", 16);
    missed += report("hover with tooltip and repaint, 99%", quantile(hovers, 0.99), "ms", 5);
    missed += report("index complete", indexMs, "ms", 1'000);
    missed += report("index memory", static_cast<double>(index.bytes()) / count, "bytes/sl", 16);
    return missed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace fp8scope::gui

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    fp8scope::gui::applyTheme(app, fp8scope::gui::ThemeChoice::Light);
    return fp8scope::gui::run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000);
}

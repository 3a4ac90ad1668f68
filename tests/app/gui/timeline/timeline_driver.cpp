// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/gui/timeline/timeline_driver.h"

#include <QApplication>
#include <QTest>
#include <QWheelEvent>

#include <algorithm>

namespace fp8scope::gui::test {

TimelineDriver::TimelineDriver(Trace trace)
{
    auto loaded = std::make_shared<LoadedTrace>();
    loaded->path = QStringLiteral("test.fp8trace");
    loaded->trace = std::move(trace);
    page.resize(1000, 700);
    page.show();
    context.setLoaded(std::move(loaded));
    waitForIndex();
    view().setFocus();
}

void TimelineDriver::waitForIndex()
{
    if (!QTest::qWaitFor([this] { return view().index().complete(); }, 60'000))
        qFatal("the index was never complete");
    QCoreApplication::processEvents();
}

void TimelineDriver::key(Qt::Key key, Qt::KeyboardModifiers modifiers) { QTest::keyClick(&view(), key, modifiers); }

void TimelineDriver::click(QPoint point)
{
    QTest::mouseClick(view().viewport(), Qt::LeftButton, Qt::NoModifier, point);
}

void TimelineDriver::doubleClick(QPoint point)
{
    QTest::mouseDClick(view().viewport(), Qt::LeftButton, Qt::NoModifier, point);
}

void TimelineDriver::drag(QPoint from, QPoint to, Qt::MouseButton button)
{
    QTest::mousePress(view().viewport(), button, Qt::NoModifier, from);
    for (const QPoint point : {from + (to - from) / 2, to}) {
        QMouseEvent move(QEvent::MouseMove, point, view().viewport()->mapToGlobal(point), Qt::NoButton, button,
                         Qt::NoModifier);
        QCoreApplication::sendEvent(view().viewport(), &move);
    }
    QTest::mouseRelease(view().viewport(), button, Qt::NoModifier, to);
}

void TimelineDriver::hover(QPoint point)
{
    QMouseEvent move(QEvent::MouseMove, point, view().viewport()->mapToGlobal(point), Qt::NoButton, Qt::NoButton,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(view().viewport(), &move);
}

void TimelineDriver::wheel(QPoint point, int units, Qt::KeyboardModifiers modifiers)
{
    QWheelEvent event(point, view().viewport()->mapToGlobal(point), QPoint(), QPoint(0, units), Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(view().viewport(), &event);
}

QPoint TimelineDriver::pointAt(std::int64_t ns, std::size_t row)
{
    const Row& r = scene().rows.rows()[row];
    return {static_cast<int>(scene().xOf(static_cast<double>(ns))), scene().rowTop(r) + r.height / 2};
}

QPoint TimelineDriver::pointOf(SliceRef slice)
{
    const SliceColumns& slices = trace().track(slice.track).slices;
    const auto row = scene().rows.rowOf(slice.track, laneOf(trace(), slice));
    return pointAt(slices.startNs[slice.index] + slices.durNs[slice.index] / 2, row.value());
}

std::size_t TimelineDriver::rowOf(Row::Kind kind)
{
    const auto& rows = scene().rows.rows();
    return static_cast<std::size_t>(
        std::find_if(rows.begin(), rows.end(), [kind](const Row& r) { return r.kind == kind; }) - rows.begin());
}

QImage TimelineDriver::picture() { return view().viewport()->grab().toImage(); }

}  // namespace fp8scope::gui::test

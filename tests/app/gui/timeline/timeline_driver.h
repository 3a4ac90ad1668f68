// SPDX-License-Identifier: GPL-3.0-or-later
// A timeline page on screen (offscreen in tests) with a trace, and hands on it: real mouse, wheel and key events.
#pragma once

#include "app/gui/timeline/timeline_page.h"
#include "app/gui/timeline/timeline_view.h"

#include <QImage>

#include <memory>

namespace fp8scope::gui::test {

class TimelineDriver {
public:
    explicit TimelineDriver(Trace trace);

    [[nodiscard]] TimelineView& view() { return *page.view(); }
    [[nodiscard]] const TimelineScene& scene() { return page.view()->scene(); }
    [[nodiscard]] const Trace& trace() const { return context.loaded()->trace; }

    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
    void click(QPoint point);
    void doubleClick(QPoint point);
    void drag(QPoint from, QPoint to, Qt::MouseButton button = Qt::LeftButton);
    void hover(QPoint point);
    void wheel(QPoint point, int units, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
    /// The middle of a slice, where it is drawn now.
    [[nodiscard]] QPoint pointOf(SliceRef slice);
    /// A point at a time in the middle of a row.
    [[nodiscard]] QPoint pointAt(std::int64_t ns, std::size_t row);
    [[nodiscard]] std::size_t rowOf(Row::Kind kind);
    [[nodiscard]] QImage picture();
    void waitForIndex();

    Context context;
    TimelinePage page{&context};
};

}  // namespace fp8scope::gui::test

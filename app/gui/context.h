// SPDX-License-Identifier: GPL-3.0-or-later
// What all pages share: the open trace, what is selected, the time range, the runs shown. Pages change it through
// setters and redraw on its signals; no page talks to another.
#pragma once

#include "app/analysis/overview.h"
#include "collector/trace/trace.h"

#include <QObject>
#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace fp8scope::gui {

/// A trace with everything that was computed from it on the worker; immutable and shared.
struct LoadedTrace {
    QString path;
    Trace trace;
    analysis::Overview overview;
};

/// What the user pointed at. Any of the ids may be none(); views show what they can match.
struct Selection {
    RunId run;
    SliceRef slice;
    NameId name;
    OpId op;
    LayerId layer;
    std::optional<Family> family;
    [[nodiscard]] bool empty() const
    {
        return !slice.valid() && !name.valid() && !op.valid() && !layer.valid() && !family;
    }
    friend bool operator==(const Selection&, const Selection&) = default;
};

struct TimeSpan {
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;
    friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

enum class Page { Overview, Timeline, Layers, Kernels, Advice };

class Context : public QObject {
    Q_OBJECT
public:
    explicit Context(QObject* parent = nullptr) : QObject(parent) {}

    [[nodiscard]] const std::shared_ptr<const LoadedTrace>& loaded() const { return m_loaded; }
    [[nodiscard]] const Selection& selection() const { return m_selection; }
    [[nodiscard]] const std::optional<TimeSpan>& range() const { return m_range; }
    [[nodiscard]] bool runVisible(RunId run) const { return m_hiddenRuns.empty() || !hidden(run); }

    /// nullptr closes the trace. Clears selection, range and hidden runs.
    void setLoaded(std::shared_ptr<const LoadedTrace> loaded);
    void setSelection(const Selection& selection);
    void clearSelection() { setSelection({}); }
    /// A range chosen by the user on the timeline (or a step); nullopt clears it.
    void setRange(std::optional<TimeSpan> range);
    void setRunVisible(RunId run, bool visible);
    /// Asks the window to show a page; with `reveal`, the timeline also scrolls to the selection.
    void requestPage(Page page, bool reveal = false) { emit pageRequested(page, reveal); }

signals:
    void loadedChanged();
    void selectionChanged(const fp8scope::gui::Selection& selection);
    void rangeChanged();
    void runsChanged();
    void pageRequested(fp8scope::gui::Page page, bool reveal);

private:
    [[nodiscard]] bool hidden(RunId run) const;
    void hideRunsOfNoRow();

    std::shared_ptr<const LoadedTrace> m_loaded;
    Selection m_selection;
    std::optional<TimeSpan> m_range;
    std::vector<RunId> m_hiddenRuns;
};

}  // namespace fp8scope::gui

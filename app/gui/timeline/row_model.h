// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of the timeline, from top to bottom: by run its header and steps, then groups of device queues (one row a
// lane), CPU threads, annotations and counters. Headers fold what is below them. Plain data: no widget, no painting.
#pragma once

#include "collector/trace/trace.h"

#include <QString>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fp8scope::gui {

struct Row {
    enum class Kind { RunHeader, GroupHeader, Steps, Lane, Counter };
    Kind kind = Kind::Lane;
    RunId run;
    TrackId track;           ///< of Lane and Counter
    std::uint32_t lane = 0;  ///< of Lane
    QString label;
    std::string key;         ///< names the header across rebuilds; empty for other rows
    bool collapsed = false;  ///< of headers
    int depth = 0;           ///< indentation of the label
    int y = 0;               ///< from the top of all rows
    int height = 0;
    [[nodiscard]] bool isHeader() const { return kind == Kind::RunHeader || kind == Kind::GroupHeader; }
    [[nodiscard]] int bottom() const { return y + height; }
};

class RowModel {
public:
    /// Lays out the rows of the runs for which `visible` holds. The trace must outlive the rows; nullptr: no rows.
    void rebuild(const Trace* trace, const std::function<bool(RunId)>& visible);
    /// Folds or unfolds a header by its key, in the next rebuild().
    void setCollapsed(const std::string& key, bool collapsed);

    [[nodiscard]] const std::vector<Row>& rows() const { return m_rows; }
    [[nodiscard]] int height() const { return m_rows.empty() ? 0 : m_rows.back().bottom(); }
    /// The row at a distance from the top; nullopt below the last.
    [[nodiscard]] std::optional<std::size_t> rowAt(int y) const;
    /// The first row that is not entirely above `y`.
    [[nodiscard]] std::size_t firstRowBelow(int y) const;
    /// The row of a lane; nullopt where its run is hidden or a header above is folded.
    [[nodiscard]] std::optional<std::size_t> rowOf(TrackId track, std::uint32_t lane) const;
    /// Unfolds the headers above a track, in the next rebuild().
    void unfold(const Trace& trace, TrackId track);

private:
    void addRun(const Trace& trace, RunId run, bool severalRuns);
    void addTrack(const Trace& trace, TrackId track, int depth);
    /// Returns whether the rows below the header are shown.
    bool addHeader(Row::Kind kind, RunId run, const QString& label, const std::string& key, int depth);
    void add(Row row);

    std::vector<Row> m_rows;
    std::set<std::string> m_collapsed;
};

/// From a run's start to its end, or to its last device work where it was cut short and has no end of its own.
struct RunExtent {
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;
};
[[nodiscard]] RunExtent runExtent(const Trace& trace, RunId run);

/// The lane that a slice is drawn on.
[[nodiscard]] std::uint32_t laneOf(const Trace& trace, SliceRef slice);

}  // namespace fp8scope::gui

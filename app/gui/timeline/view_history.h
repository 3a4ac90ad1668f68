// SPDX-License-Identifier: GPL-3.0-or-later
// Where the timeline was: a stack of views to go back to, as in a browser.
#pragma once

#include <optional>
#include <vector>

namespace fp8scope::gui {

struct TimelineViewport {
    double startNs = 0;
    double spanNs = 1;
    int scrollY = 0;
    friend bool operator==(const TimelineViewport&, const TimelineViewport&) = default;
};

class ViewHistory {
public:
    static constexpr std::size_t kMost = 100;

    void clear() { m_back.clear(), m_forward.clear(); }

    /// Call before the view changes, with the view as it is.
    void remember(const TimelineViewport& current)
    {
        m_forward.clear();
        if (!m_back.empty() && m_back.back() == current)
            return;
        if (m_back.size() == kMost)
            m_back.erase(m_back.begin());
        m_back.push_back(current);
    }

    /// The view to go to, given where we are now; nullopt: there is none.
    [[nodiscard]] std::optional<TimelineViewport> back(const TimelineViewport& current)
    {
        return move(m_back, m_forward, current);
    }
    [[nodiscard]] std::optional<TimelineViewport> forward(const TimelineViewport& current)
    {
        return move(m_forward, m_back, current);
    }

private:
    static std::optional<TimelineViewport> move(std::vector<TimelineViewport>& from, std::vector<TimelineViewport>& to,
                                                const TimelineViewport& current)
    {
        while (!from.empty() && from.back() == current)
            from.pop_back();
        if (from.empty())
            return std::nullopt;
        const TimelineViewport target = from.back();
        from.pop_back();
        to.push_back(current);
        return target;
    }

    std::vector<TimelineViewport> m_back;
    std::vector<TimelineViewport> m_forward;
};

}  // namespace fp8scope::gui

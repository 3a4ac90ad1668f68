// SPDX-License-Identifier: Apache-2.0
#include "collector/import/nsys_events.h"

#include "collector/import/nsys_names.h"
#include "collector/trace/slice_record.h"

#include <algorithm>

namespace fp8scope::import {

NameId NsysEvents::name(NameKind kind, const std::string& text)
{
    const auto [at, isNew] = m_names.try_emplace({kind, text}, NameId(static_cast<std::uint32_t>(events.names.size())));
    if (isNew) {
        Name made;
        made.text = text;
        made.kind = kind;
        events.names.push_back(std::move(made));
    }
    return at->second;
}

NameId NsysEvents::nameOf(NameKind kind, std::int64_t stringId)
{
    const std::uint64_t key = static_cast<std::uint64_t>(stringId) << 4 | static_cast<std::uint64_t>(kind);
    const auto [at, isNew] = m_nameOfString.try_emplace(key);
    if (isNew)
        if (const auto text = db.string(stringId); text && !text->empty())
            at->second = name(kind, kind == NameKind::Api ? apiName(*text) : *text);
    return at->second;
}

std::size_t NsysEvents::ShapeHash::operator()(const LaunchShape& s) const noexcept
{
    std::uint64_t h = 0;
    const auto mix = [&h](std::uint64_t value) { h = (h ^ value) * 0x9e3779b97f4a7c15U; };
    for (const auto* axes : {s.grid, s.block, s.cluster})
        mix(std::uint64_t{axes[0]} | std::uint64_t{axes[1]} << 24 | std::uint64_t{axes[2]} << 44);
    mix(std::uint64_t{s.registers} | std::uint64_t{s.staticShared} << 12 | std::uint64_t{s.dynamicShared} << 36);
    return static_cast<std::size_t>(h ^ h >> 29);
}

LaunchShapeId NsysEvents::launchShape(const LaunchShape& shape)
{
    const auto [at, isNew] =
        m_shapes.try_emplace(shape, LaunchShapeId(static_cast<std::uint32_t>(events.launchShapes.size())));
    if (isNew)
        events.launchShapes.push_back(shape);
    return at->second;
}

std::optional<std::int64_t> NsysEvents::instant(const NsysRows& rows, NsysRows::Column time)
{
    if (!rows.isInteger(time)) {
        ++m_unreadableRows;
        return std::nullopt;
    }
    const std::int64_t ns = rows.integer(time);
    if (ns <= -kMaxTimeNs || ns >= kMaxTimeNs) {
        ++m_timesOutOfRange;
        return std::nullopt;
    }
    return ns;
}

std::optional<NsysEvents::Span> NsysEvents::span(const NsysRows& rows, NsysRows::Column start, NsysRows::Column end)
{
    const auto from = instant(rows, start);
    if (!from)
        return std::nullopt;
    const auto to = instant(rows, end);
    if (!to)
        return std::nullopt;
    if (*to < *from)
        ++m_negativeDurations;
    m_endNs = std::max(m_endNs, *to);
    return Span{*from, std::min(std::max<std::int64_t>(*to - *from, 0), kMaxTimeNs - 1)};
}

void NsysEvents::count(std::string_view name, Severity severity, std::string_view text, std::uint64_t n)
{
    if (n == 0)
        return;
    auto at = m_oddities.find(name);
    if (at == m_oddities.end())
        at = m_oddities.emplace(name, Diagnostic{RunId::none(), std::string(name), severity, 0, std::string(text)})
                 .first;
    at->second.count += n;
}

void NsysEvents::finish()
{
    count("negative_duration", Severity::Error, "events that end before they start; kept with no duration",
          m_negativeDurations);
    count("unreadable_row", Severity::DataLoss, "rows of event tables without a start or end that is a number",
          m_unreadableRows);
    count("time_out_of_range", Severity::DataLoss, "events further than 146 years from the start", m_timesOutOfRange);
    count("event_without_process", Severity::Error,
          "queues whose rows name no process in an export of several; shown with the first, so their launches may be "
          "another's",
          target.ambiguousQueues());
    target.finish();
    for (auto& [name, oddity] : m_oddities)
        events.diagnostics.push_back(std::move(oddity));
    m_oddities.clear();
}

}  // namespace fp8scope::import

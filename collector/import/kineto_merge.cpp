// SPDX-License-Identifier: Apache-2.0
#include "collector/import/kineto_merge.h"

#include "collector/import/json_text.h"

#include <algorithm>
#include <utility>

namespace fp8scope::import {
namespace {

/// Growing by doubling would hold a column twice; what the file's rest will bring is known well enough.
template <typename T>
void makeRoom(std::vector<T>& column, std::size_t more, double share)
{
    const std::size_t needed = column.size() + more;
    if (needed <= column.capacity())
        return;
    const double expected = share > 0.001 ? static_cast<double>(needed) / share * 1.1 : static_cast<double>(needed) * 4;
    column.reserve(std::max(needed, static_cast<std::size_t>(expected)));
}

/// One spelling of equal arguments, however the writer laid them out.
Arguments canonical(const Arguments& raw)
{
    Arguments tidy = raw;
    for (std::string* part : {&tidy.dims, &tidy.types, &tidy.strides, &tidy.concrete}) {
        if (part->starts_with('['))
            *part = compactJson(*part);
        else
            *part = unescapedJson(*part);
    }
    for (std::string* part : {&tidy.moduleHierarchy, &tidy.collective, &tidy.group, &tidy.groupRanks})
        *part = unescapedJson(*part);
    return tidy;
}

}  // namespace

/// From a chunk's numbers to the file's.
struct KinetoMerger::Maps {
    std::vector<std::uint32_t> rows, names, shapes, arguments;
};

std::uint32_t KinetoMerger::trackOf(const Row& row)
{
    const bool either = row.key.use == RowUse::Either;
    const std::size_t next = either ? m_eitherRows.size() : m_rows.size();
    const auto [place, isNew] = m_rowIds.try_emplace(row.key, static_cast<std::uint32_t>(next));
    if (either) {
        if (isNew)
            m_eitherRows.push_back(row.key);
        return place->second;
    }
    if (isNew)
        m_rows.push_back(row);
    Row& known = m_rows[place->second];
    known.device = known.device < 0 ? row.device : known.device;
    known.stream = known.stream < 0 ? row.stream : known.stream;
    return place->second;
}

void KinetoMerger::addRows(const KinetoChunk& chunk, Maps& maps)
{
    for (const Row& row : chunk.rows)
        maps.rows.push_back(trackOf(row));
    for (const auto& [key, name] : chunk.rowNames)
        m_rowNames.insert_or_assign(key, name);
}

void KinetoMerger::addNames(const KinetoChunk& chunk, Maps& maps)
{
    for (std::size_t i = 0; i < chunk.names.size(); ++i)
        maps.names.push_back(m_names.add(chunk.names[i]));
    for (std::size_t i = 0; i < chunk.shapes.size(); ++i)
        maps.shapes.push_back(m_shapes.add(chunk.shapes[i]));
    for (std::size_t i = 0; i < chunk.arguments.size(); ++i)
        maps.arguments.push_back(m_arguments.add(canonical(chunk.arguments[i])));
}

void KinetoMerger::add(const KinetoChunk& chunk, double share)
{
    m_events += chunk.events;
    m_knownCategories += chunk.knownCategories;
    for (const auto& [oddity, count] : chunk.oddities)
        m_oddities[oddity] += count;
    Maps maps;
    addRows(chunk, maps);
    addNames(chunk, maps);
    addEvents(chunk, maps, share);
}

/// The middle of the first times that come: one that is wrong by decades must not be what all others are measured from.
void KinetoMerger::setZero(const KinetoChunk& chunk)
{
    if (m_hasZero)
        return;
    std::vector<std::int64_t> starts;
    for (const DeviceEvent& event : chunk.device)
        starts.push_back(event.startNs);
    for (const HostEvent& event : chunk.host)
        starts.push_back(event.startNs);
    for (const Flow& flow : chunk.flows)
        starts.push_back(flow.timeNs);
    for (const Boundary& boundary : chunk.boundaries)
        starts.push_back(boundary.ns);
    for (const Sample& sample : chunk.samples)
        starts.push_back(sample.timeNs);
    if (starts.empty())
        return;
    const auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
    std::nth_element(starts.begin(), middle, starts.end());
    m_zeroNs = *middle;
    m_hasZero = true;
}

/// False, and counted, for what is decades off: sums of such times would leave 64 bits.
bool KinetoMerger::fromZero(std::int64_t& startNs, std::int64_t durNs)
{
    constexpr std::int64_t kDecades = std::int64_t{1} << 60;
    startNs -= m_zeroNs;
    if (startNs < kDecades && startNs > -kDecades && durNs < kDecades)
        return true;
    countOddity(m_oddities, kNoTime);
    return false;
}

void KinetoMerger::addEvents(const KinetoChunk& chunk, const Maps& maps, double share)
{
    setZero(chunk);
    const auto argumentsOf = [&](std::uint32_t id) {
        return id == DeviceEvent::kNoArguments ? id : maps.arguments[id];
    };
    makeRoom(m_raw.device, chunk.device.size(), share);
    for (DeviceEvent event : chunk.device) {
        event.track = maps.rows[event.track];
        event.name = NameId(maps.names[event.name.value]);
        if (event.launchShape.valid())
            event.launchShape = LaunchShapeId(maps.shapes[event.launchShape.value]);
        event.arguments = argumentsOf(event.arguments);
        if (fromZero(event.startNs, event.durNs))
            m_raw.device.push_back(event);
    }
    makeRoom(m_raw.host, chunk.host.size(), share);
    for (HostEvent event : chunk.host) {
        event.track = maps.rows[event.track];
        event.name = NameId(maps.names[event.name.value]);
        event.arguments = argumentsOf(event.arguments);
        if (fromZero(event.startNs, event.durNs))
            m_raw.host.push_back(event);
    }
    addPoints(chunk, maps, share);
}

void KinetoMerger::addPoints(const KinetoChunk& chunk, const Maps& maps, double share)
{
    makeRoom(m_raw.flows, chunk.flows.size(), share);
    for (Flow flow : chunk.flows) {
        flow.track = maps.rows[flow.track];
        if (fromZero(flow.timeNs, 0))
            m_raw.flows.push_back(flow);
    }
    for (Sample sample : chunk.samples) {
        sample.track = TrackId(maps.rows[sample.track.value]);
        if (fromZero(sample.timeNs, 0))
            m_raw.samples.push_back(sample);
    }
    for (Boundary boundary : chunk.boundaries) {
        boundary.row = maps.rows[boundary.row];
        boundary.name = NameId(maps.names[boundary.name.value]);
        if (fromZero(boundary.ns, 0))
            m_boundaries.push_back(boundary);
    }
}

void KinetoMerger::closeRange(const Boundary& begin, std::int64_t endNs)
{
    m_raw.host.push_back({.startNs = begin.ns,
                          .durNs = std::max<std::int64_t>(endNs - begin.ns, 0),
                          .track = begin.row,
                          .name = begin.name,
                          .kind = HostKind::Range});
}

/// B and E, b and e: the last one open on a row (with an id) ends first.
void KinetoMerger::closeBoundaries()
{
    const auto sameRange = [](const Boundary& a, const Boundary& b) { return a.row == b.row && a.id == b.id; };
    std::stable_sort(m_boundaries.begin(), m_boundaries.end(), [](const Boundary& a, const Boundary& b) {
        return std::pair(a.row, a.id) != std::pair(b.row, b.id) ? std::pair(a.row, a.id) < std::pair(b.row, b.id)
                                                                : a.ns < b.ns;
    });
    std::vector<Boundary> open;
    for (std::size_t i = 0; i < m_boundaries.size(); ++i) {
        const Boundary& at = m_boundaries[i];
        if (at.begins) {
            open.push_back(at);
        } else if (open.empty()) {
            countOddity(m_oddities, kEndWithoutBegin);
        } else {
            closeRange(open.back(), at.ns);
            open.pop_back();
        }
        if (i + 1 < m_boundaries.size() && sameRange(at, m_boundaries[i + 1]))
            continue;
        for (const Boundary& begin : open)
            closeRange(begin, at.ns);
        if (!open.empty())
            countOddity(m_oddities, kBeginWithoutEnd, {}, open.size());
        open.clear();
    }
    m_boundaries = {};
}

/// Samples in time order; of rows that only tell changes, their running sum.
void KinetoMerger::sumChanges()
{
    std::stable_sort(m_raw.samples.begin(), m_raw.samples.end(), [](const Sample& a, const Sample& b) {
        return a.track != b.track ? a.track < b.track : a.timeNs < b.timeNs;
    });
    for (std::size_t i = 1; i < m_raw.samples.size(); ++i) {
        Sample& sample = m_raw.samples[i];
        const Sample& before = m_raw.samples[i - 1];
        if (before.track == sample.track && m_rows[sample.track.value].key.use == RowUse::Changes)
            sample.value += before.value;
    }
}

/// An arrow's end names a row only: its queue, if something ran there, else its thread.
void KinetoMerger::resolveFlows()
{
    constexpr std::uint32_t kNowhere = UINT32_MAX;
    std::vector<std::uint32_t> tracks;
    for (RowKey key : m_eitherRows) {
        std::uint32_t track = kNowhere;
        for (const RowUse use : {RowUse::Marks, RowUse::DeviceWaits, RowUse::Thread, RowUse::DeviceQueue}) {
            key.use = use;
            if (const auto place = m_rowIds.find(key); place != m_rowIds.end())
                track = place->second;
        }
        tracks.push_back(track);
    }
    for (Flow& flow : m_raw.flows)
        flow.track = tracks[flow.track];
    const std::size_t loose = std::erase_if(m_raw.flows, [](const Flow& flow) { return flow.track == kNowhere; });
    if (loose > 0)
        countOddity(m_oddities, kLooseFlow, {}, loose);
}

void KinetoMerger::setTimeBase(const KinetoHead& head)
{
    constexpr std::int64_t kAfter2001 = 1'000'000'000'000'000'000;  // less is a clock since boot, not of the wall
    m_raw.epochWallNs = head.baseNs + m_zeroNs;
    if (m_raw.epochWallNs < kAfter2001)
        m_raw.epochWallNs = 0;
}

RawEvents KinetoMerger::finish(const KinetoHead& head)
{
    const bool kineto = head.kineto || m_knownCategories > 0;
    closeBoundaries();
    sumChanges();
    resolveFlows();
    setTimeBase(head);
    for (std::size_t i = 0; i < m_names.size(); ++i)
        m_raw.names.push_back({.text = m_names[i].text, .kind = m_names[i].kind});
    for (std::size_t i = 0; i < m_shapes.size(); ++i)
        m_raw.launchShapes.push_back(m_shapes[i]);
    for (std::size_t i = 0; i < m_arguments.size(); ++i)
        m_raw.arguments.push_back(m_arguments[i]);
    nameRows(head);
    placeDevices(head);
    m_raw.producer = kineto ? "PyTorch profiler" : "Chrome trace";
    m_raw.meta = head.meta;
    m_raw.diagnostics = toDiagnostics(m_oddities);
    m_raw.diagnostics.insert(m_raw.diagnostics.end(), head.diagnostics.begin(), head.diagnostics.end());
    return std::move(m_raw);
}

}  // namespace fp8scope::import

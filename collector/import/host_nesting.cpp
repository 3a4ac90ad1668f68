// SPDX-License-Identifier: Apache-2.0
#include "collector/import/host_nesting.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace fp8scope::import {
namespace {

bool isOfThread(const RawTrack& track)
{
    return track.track.kind == TrackKind::CpuThread ||
           (track.track.kind == TrackKind::Annotation && !track.track.device.valid());
}

}  // namespace

HostNesting::HostNesting(const RawEvents& raw, const std::vector<NameHint>& hints) : m_raw(raw), m_hints(hints)
{
    m_hasModuleFrames = std::any_of(hints.begin(), hints.end(), [](const NameHint& h) { return h.isModuleFrame; });
    m_moduleOfArguments.reserve(raw.arguments.size());
    for (const Arguments& arguments : raw.arguments)
        m_moduleOfArguments.push_back(
            arguments.moduleHierarchy.empty() ? kNone : m_modules.absolute(arguments.moduleHierarchy));
    groupByThread();
    m_parent.assign(raw.host.size(), kNone);
    m_contexts.resize(raw.host.size());
    for (const auto& thread : m_threads)
        nest(thread);
    if (m_nodes.empty())
        return;
    m_forwardOf.assign(raw.host.size(), kNone);
    linkBySequence();
    linkByFlows();
}

/// A thread may have several tracks (its ops, its marks); they nest in each other.
void HostNesting::groupByThread()
{
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> threads;
    for (const RawTrack& track : m_raw.tracks) {
        m_threadOfTrack.push_back(kNone);
        if (!isOfThread(track))
            continue;
        const auto [entry, isNew] =
            threads.try_emplace({track.track.process.value, track.thread}, static_cast<std::uint32_t>(threads.size()));
        m_threadOfTrack.back() = entry->second;
    }
    std::vector<std::size_t> counts(threads.size());
    for (const HostEvent& event : m_raw.host) {
        if (const std::uint32_t thread = m_threadOfTrack[event.track]; thread != kNone)
            ++counts[thread];
    }
    m_threads.resize(threads.size());
    for (std::size_t t = 0; t < counts.size(); ++t)
        m_threads[t].reserve(counts[t]);
    for (std::uint32_t row = 0; row < m_raw.host.size(); ++row) {
        if (const std::uint32_t thread = m_threadOfTrack[m_raw.host[row].track]; thread != kNone)
            m_threads[thread].push_back(row);
    }
    const auto before = [this](std::uint32_t a, std::uint32_t b) {
        const HostEvent& x = m_raw.host[a];
        const HostEvent& y = m_raw.host[b];
        return x.startNs != y.startNs ? x.startNs < y.startNs : x.durNs > y.durNs;
    };
    m_position.assign(m_raw.host.size(), kNone);
    for (auto& events : m_threads) {
        if (!std::is_sorted(events.begin(), events.end(), before))
            std::stable_sort(events.begin(), events.end(), before);
        for (std::uint32_t i = 0; i < events.size(); ++i)
            m_position[events[i]] = i;
    }
}

/// An event is inside another if it starts before the other ends. In files with whole microseconds children may end
/// after their parents, and an op of no duration holds a call of none that starts with it.
void HostNesting::nest(const std::vector<std::uint32_t>& events)
{
    std::vector<std::uint32_t> open;
    std::uint32_t lastNode = kNone;
    for (const std::uint32_t row : events) {
        const HostEvent& event = m_raw.host[row];
        const auto isOver = [&](std::uint32_t outer) {
            const bool isInstant = m_raw.host[outer].durNs == 0 && event.durNs == 0 && event.kind == HostKind::Api;
            return isInstant ? endNs(outer) < event.startNs : endNs(outer) <= event.startNs;
        };
        while (!open.empty() && isOver(open.back()))
            open.pop_back();
        if (!open.empty()) {
            m_parent[row] = open.back();
            m_contexts[row] = m_contexts[open.back()];
        }
        enter(row, m_contexts[row], lastNode);
        if (event.kind != HostKind::Overhead)
            open.push_back(row);
    }
}

void HostNesting::enter(std::uint32_t row, HostContext& context, std::uint32_t& lastNode)
{
    const HostEvent& event = m_raw.host[row];
    if (event.kind == HostKind::Api || event.kind == HostKind::Overhead)
        return;
    const NameHint& hint = m_hints[event.name.value];
    if (hint.phase != PhaseHint::None)
        context.phase = hint.phase;
    if (event.kind == HostKind::Op && !hint.isMark)
        enterOp(row, context, lastNode);
    else if (hint.isModuleFrame || (hint.isModuleRange && !m_hasModuleFrames && event.kind == HostKind::Range))
        enterModule(event, context);
}

void HostNesting::enterModule(const HostEvent& event, HostContext& context)
{
    context.module = m_modules.child(context.module, event.name);
    if (context.node == kNone)
        return;
    context.node = kNone;  // a module's forward inside a backward node: checkpointing computes it again
    context.phase = PhaseHint::Forward;
}

void HostNesting::enterOp(std::uint32_t row, HostContext& context, std::uint32_t& lastNode)
{
    const HostEvent& event = m_raw.host[row];
    const NameHint& hint = m_hints[event.name.value];
    context.op = row;
    if (event.arguments != DeviceEvent::kNoArguments) {
        if (!m_raw.arguments[event.arguments].dims.empty())
            context.shaped = row;
        if (m_moduleOfArguments[event.arguments] != kNone)
            context.module = m_moduleOfArguments[event.arguments];
    }
    if (hint.isBackwardNode || event.forwardThread != 0) {
        context.phase = PhaseHint::Backward;
        context.accumulatesGrad = hint.accumulatesGrad;
        if (event.sequenceNumber >= 0)
            lastNode = row;
        // A gradient is added up right after the node that made it, and has no number of its own.
        if (event.sequenceNumber >= 0 || context.node == kNone)
            context.node = hint.accumulatesGrad && lastNode != kNone ? lastNode : row;
        m_nodes.push_back(row);
    } else if (event.sequenceNumber >= 0 && context.node != kNone) {
        context.node = kNone;  // backward ops record no graph; one that does is a forward op that is computed again
        context.phase = PhaseHint::Forward;
    }
}

/// The forward op of a node is the last one before it with its number: ops that record nothing repeat the number of the
/// next one that does. Numbers are unique within a process (counted by the thread that runs the model).
void HostNesting::linkBySequence()
{
    using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::uint32_t>;  // process, number, start, row
    std::vector<Key> forward;
    const auto keyOf = [this](std::uint32_t row) {
        const HostEvent& event = m_raw.host[row];
        return Key{m_raw.tracks[event.track].track.process.value, event.sequenceNumber, event.startNs, row};
    };
    for (std::uint32_t row = 0; row < m_raw.host.size(); ++row) {
        const HostEvent& event = m_raw.host[row];
        if (event.kind == HostKind::Op && event.sequenceNumber >= 0 && event.forwardThread == 0 &&
            !m_hints[event.name.value].isBackwardNode)
            forward.push_back(keyOf(row));
    }
    std::sort(forward.begin(), forward.end());
    for (const std::uint32_t node : m_nodes) {
        if (m_raw.host[node].sequenceNumber < 0)
            continue;
        const Key key = keyOf(node);
        const auto after = std::lower_bound(forward.begin(), forward.end(), key);
        if (after == forward.begin())
            continue;
        const Key& candidate = *std::prev(after);
        if (std::get<0>(candidate) == std::get<0>(key) && std::get<1>(candidate) == std::get<1>(key))
            m_forwardOf[node] = std::get<3>(candidate);
    }
}

/// Only of nodes that have no number: an arrow starts with the forward op and ends with the node.
void HostNesting::linkByFlows()
{
    using Key = std::tuple<std::uint32_t, std::uint64_t, bool, std::uint32_t>;  // process, id, is the head, flow
    std::vector<Key> ends;
    for (std::uint32_t i = 0; i < m_raw.flows.size(); ++i) {
        const Flow& flow = m_raw.flows[i];
        if (flow.kind == Flow::Kind::ForwardBackward)
            ends.emplace_back(m_raw.tracks[flow.track].track.process.value, flow.id, !flow.begins, i);
    }
    std::sort(ends.begin(), ends.end());
    for (std::size_t i = 1; i < ends.size(); ++i) {
        const auto [process, id, isHead, head] = ends[i];
        const auto [tailProcess, tailId, tailIsHead, tail] = ends[i - 1];
        if (!isHead || tailIsHead || process != tailProcess || id != tailId)
            continue;
        const std::uint32_t node = startingAt(m_raw.flows[head].track, m_raw.flows[head].timeNs);
        if (node != kNone && m_forwardOf[node] == kNone)
            m_forwardOf[node] = startingAt(m_raw.flows[tail].track, m_raw.flows[tail].timeNs);
    }
}

/// The outermost op that starts at a moment, else the innermost that covers it.
std::uint32_t HostNesting::startingAt(std::uint32_t track, std::int64_t timeNs) const
{
    if (m_threadOfTrack[track] == kNone)
        return kNone;
    const auto& events = threadEvents(track);
    auto event = std::lower_bound(events.begin(), events.end(), timeNs,
                                  [this](std::uint32_t row, std::int64_t t) { return m_raw.host[row].startNs < t; });
    for (; event != events.end() && m_raw.host[*event].startNs == timeNs; ++event) {
        if (m_raw.host[*event].kind == HostKind::Op)
            return *event;
    }
    const std::uint32_t inside = covering(track, timeNs);
    return inside == kNone ? kNone : m_contexts[inside].op;
}

std::uint32_t HostNesting::covering(std::uint32_t track, std::int64_t timeNs) const
{
    if (m_threadOfTrack[track] == kNone)
        return kNone;
    const auto& events = threadEvents(track);
    const auto after =
        std::upper_bound(events.begin(), events.end(), timeNs,
                         [this](std::int64_t t, std::uint32_t row) { return t < m_raw.host[row].startNs; });
    if (after == events.begin())
        return kNone;
    std::uint32_t row = *std::prev(after);
    while (row != kNone && endNs(row) < timeNs)
        row = m_parent[row];
    return row;
}

std::vector<std::uint32_t> HostNesting::opsInside(std::uint32_t op, std::size_t limit) const
{
    const auto& events = threadEvents(m_raw.host[op].track);
    std::vector<std::uint32_t> inside;
    for (std::size_t i = m_position[op]; i < events.size() && inside.size() < limit; ++i) {
        const std::uint32_t row = events[i];
        if (row != op && m_raw.host[row].startNs >= endNs(op))
            break;
        if (m_raw.host[row].kind == HostKind::Op)
            inside.push_back(row);
    }
    return inside;
}

}  // namespace fp8scope::import

// SPDX-License-Identifier: Apache-2.0
#include "collector/import/launch_links.h"

#include "collector/import/id_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace fp8scope::import {
namespace {

class Linker {
public:
    Linker(const RawEvents& raw, const HostNesting& nesting) : m_raw(raw), m_nesting(nesting)
    {
        m_links.ofDevice.resize(raw.device.size());
    }

    LaunchLinks link()
    {
        indexHost();
        for (std::uint32_t i = 0; i < m_raw.device.size(); ++i)
            linkByCorrelation(i);
        linkByFlows();
        for (std::uint32_t i = 0; i < m_raw.device.size(); ++i)
            linkOp(i);
        count();
        return std::move(m_links);
    }

private:
    [[nodiscard]] std::uint32_t processOf(std::uint32_t track) const { return m_raw.tracks[track].track.process.value; }

    void indexHost()
    {
        const std::size_t processes = m_raw.processes.size();
        std::vector<std::vector<IdIndex::Entry>> calls(processes);
        std::vector<std::vector<IdIndex::Entry>> ops(processes);
        for (std::uint32_t row = 0; row < m_raw.host.size(); ++row) {
            const HostEvent& event = m_raw.host[row];
            if (event.kind == HostKind::Api && event.correlation != 0)
                calls[processOf(event.track)].push_back({event.correlation, row});
            else if (event.kind == HostKind::Op && event.externalId != 0)
                ops[processOf(event.track)].push_back({event.externalId, row});
        }
        for (std::size_t p = 0; p < processes; ++p) {
            m_calls.emplace_back(std::move(calls[p]));
            m_ops.emplace_back(std::move(ops[p]));
            m_callCollisions += m_calls.back().collisions();
        }
    }

    void linkByCorrelation(std::uint32_t i)
    {
        const DeviceEvent& event = m_raw.device[i];
        if (event.correlation != 0)
            m_links.ofDevice[i].launch = m_calls[processOf(event.track)].find(event.correlation);
    }

    void linkOp(std::uint32_t i)
    {
        const DeviceEvent& event = m_raw.device[i];
        LaunchLink& link = m_links.ofDevice[i];
        if (event.externalId != 0)
            link.op = m_ops[processOf(event.track)].find(event.externalId);
        if (link.op == kNone && link.launch != kNone)
            link.op = m_nesting.at(link.launch).op;
    }

    /// Device work whose launch is not known yet, by where and when it starts.
    using Place = std::tuple<std::uint32_t, std::int64_t, std::uint32_t>;  // track, start, device row

    [[nodiscard]] std::vector<Place> unlaunched() const
    {
        std::vector<Place> places;
        for (std::uint32_t i = 0; i < m_raw.device.size(); ++i) {
            if (m_links.ofDevice[i].launch == kNone)
                places.emplace_back(m_raw.device[i].track, m_raw.device[i].startNs, i);
        }
        std::sort(places.begin(), places.end());
        return places;
    }

    /// An arrow leaves from the thread inside the launching call and arrives where the device work starts. Arrows
    /// without a tail, or without a head, are usual: every runtime call gets one end.
    void linkByFlows()
    {
        std::vector<std::vector<IdIndex::Entry>> tails(m_raw.processes.size());
        for (std::uint32_t i = 0; i < m_raw.flows.size(); ++i) {
            if (m_raw.flows[i].kind == Flow::Kind::Launch && m_raw.flows[i].begins)
                tails[processOf(m_raw.flows[i].track)].push_back({m_raw.flows[i].id, i});
        }
        std::vector<IdIndex> tailOf;
        for (auto& entries : tails)
            tailOf.emplace_back(std::move(entries));
        const std::vector<Place> places = unlaunched();
        for (const Flow& head : m_raw.flows) {
            if (head.kind != Flow::Kind::Launch || head.begins)
                continue;
            const std::uint32_t tail = tailOf[processOf(head.track)].find(head.id);
            if (tail == kNone)
                ++m_danglingFlows;
            else if (!places.empty())
                linkFlow(m_raw.flows[tail], head, places);
        }
    }

    void linkFlow(const Flow& tail, const Flow& head, const std::vector<Place>& places)
    {
        const auto place = std::lower_bound(places.begin(), places.end(), Place{head.track, head.timeNs, 0});
        if (place == places.end() || std::get<0>(*place) != head.track || std::get<1>(*place) != head.timeNs)
            return;
        std::uint32_t call = m_nesting.covering(tail.track, tail.timeNs);
        if (call == kNone || m_raw.host[call].kind != HostKind::Api)
            return;
        LaunchLink& link = m_links.ofDevice[std::get<2>(*place)];
        if (link.launch == kNone) {
            link.launch = call;
            ++m_byFlow;
        }
    }

    void count()
    {
        std::size_t launched = 0;
        std::size_t kernelsWithoutLaunch = 0;
        std::size_t kernelsWithoutOp = 0;
        std::vector<std::uint32_t> calls;
        const bool hasCalls = std::any_of(m_raw.host.begin(), m_raw.host.end(),
                                          [](const HostEvent& e) { return e.kind == HostKind::Api; });
        const bool hasOps = std::any_of(m_raw.host.begin(), m_raw.host.end(),
                                        [](const HostEvent& e) { return e.kind == HostKind::Op; });
        for (std::size_t i = 0; i < m_raw.device.size(); ++i) {
            const LaunchLink& link = m_links.ofDevice[i];
            if (m_raw.names[m_raw.device[i].name.value].kind == NameKind::Kernel) {
                kernelsWithoutLaunch += link.launch == kNone ? 1 : 0;
                kernelsWithoutOp += link.op == kNone ? 1 : 0;
            }
            if (link.launch != kNone) {
                calls.push_back(link.launch);
                ++launched;
            }
        }
        std::sort(calls.begin(), calls.end());
        const auto distinct = static_cast<std::size_t>(std::unique(calls.begin(), calls.end()) - calls.begin());
        if (hasCalls)
            say("kernel-without-launch", kernelsWithoutLaunch, "{} kernels whose launching call is not in the file");
        if (hasOps)
            say("kernel-without-op", kernelsWithoutOp, "{} kernels that no CPU op launched as far as the file tells");
        say("shared-launch", launched - distinct, "{} kernels and copies share a launch with others (graphs)");
        say("launch-by-flow", m_byFlow, "{} launches found by flow arrows, without correlation ids");
        say("correlation-collision", m_callCollisions,
            "{} calls repeat the correlation id of another of their process");
        say("flow-without-begin", m_danglingFlows, "{} flow arrows arrive from nowhere");
    }

    void say(std::string_view name, std::size_t count, fmt::format_string<std::size_t&> text)
    {
        if (count > 0)
            m_links.diagnostics.push_back(
                {RunId::none(), std::string(name), Severity::Info, count, fmt::format(text, count)});
    }

    const RawEvents& m_raw;
    const HostNesting& m_nesting;
    LaunchLinks m_links;
    std::vector<IdIndex> m_calls, m_ops;  ///< by process
    std::size_t m_callCollisions = 0, m_danglingFlows = 0, m_byFlow = 0;
};

}  // namespace

LaunchLinks linkLaunches(const RawEvents& raw, const HostNesting& nesting) { return Linker(raw, nesting).link(); }

}  // namespace fp8scope::import

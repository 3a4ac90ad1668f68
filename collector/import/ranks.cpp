// SPDX-License-Identifier: Apache-2.0
#include "collector/import/ranks.h"

#include "collector/import/kineto_chunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>

namespace fp8scope::import {
namespace {

void shift(Column<std::int64_t>& times, std::int64_t ns)
{
    for (std::int64_t& time : times)
        time += ns;
}

template <typename Tag>
void offset(Id<Tag>& id, std::size_t by)
{
    if (id.valid())
        id = Id<Tag>(id.value + static_cast<std::uint32_t>(by));
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from)
{
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// Appends traces to one, giving their rows new ids.
class Joiner {
public:
    Trace take() { return std::move(m_joined); }

    void add(Trace part, std::int64_t shiftNs)
    {
        const std::vector<NameId> names = addNames(part.names);
        for (Track& track : part.tracks)
            addTrack(std::move(track), names, shiftNs);
        addRows(part, shiftNs);
        append(m_joined.runs, part.runs);
        append(m_joined.processes, part.processes);
        append(m_joined.devices, part.devices);
        append(m_joined.launchShapes, part.launchShapes);
        append(m_joined.layers, part.layers);
        append(m_joined.ops, part.ops);
        append(m_joined.steps, part.steps);
        append(m_joined.samples, part.samples);
        append(m_joined.diagnostics, part.diagnostics);
        m_joined.meta.merge(part.meta);
    }

private:
    std::vector<NameId> addNames(std::vector<Name>& names)
    {
        std::vector<NameId> ids;
        ids.reserve(names.size());
        for (Name& name : names) {
            const std::uint32_t id = m_names.add({name.text, name.kind});
            if (id == m_joined.names.size())
                m_joined.names.push_back(std::move(name));
            ids.emplace_back(id);
        }
        return ids;
    }

    void addTrack(Track track, const std::vector<NameId>& names, std::int64_t shiftNs)
    {
        shift(track.slices.startNs, shiftNs);
        for (NameId& name : track.slices.name)
            name = names[name.value];
        for (OpId& op : track.slices.op)
            offset(op, m_joined.ops.size());
        for (LaunchShapeId& shape : track.slices.launchShape)
            offset(shape, m_joined.launchShapes.size());
        offset(track.run, m_joined.runs.size());
        offset(track.process, m_joined.processes.size());
        offset(track.device, m_joined.devices.size());
        m_newTracks.push_back(std::move(track));
    }

    void addRows(Trace& part, std::int64_t shiftNs)
    {
        for (Run& run : part.runs) {
            run.startNs += shiftNs;
            run.endNs += shiftNs;
        }
        for (Layer& layer : part.layers)
            offset(layer.run, m_joined.runs.size());
        for (TraceOp& op : part.ops) {
            offset(op.run, m_joined.runs.size());
            offset(op.layer, m_joined.layers.size());
        }
        for (Step& step : part.steps) {
            offset(step.run, m_joined.runs.size());
            step.startNs += shiftNs;
        }
        for (Sample& sample : part.samples) {
            offset(sample.track, m_joined.tracks.size());
            sample.timeNs += shiftNs;
        }
        for (Diagnostic& diagnostic : part.diagnostics)
            offset(diagnostic.run, m_joined.runs.size());
        append(m_joined.tracks, m_newTracks);
        m_newTracks.clear();
    }

    Trace m_joined;
    std::vector<Track> m_newTracks;
    Interned<NameKey, NameHash> m_names;
};

/// Several ranks: "rank 3", or the file where it is not known; its processes apart where it has more.
void nameRuns(ImportedRank& rank)
{
    const std::string base = rank.rank >= 0 ? fmt::format("rank {}", rank.rank) : runNameOf(rank.file);
    for (Run& run : rank.trace.runs)
        run.mode = rank.trace.runs.size() == 1 ? base : base + ", " + run.mode;
    for (Process& process : rank.trace.processes)
        process.rank = rank.rank;
    for (Diagnostic& diagnostic : rank.trace.diagnostics) {
        if (!diagnostic.run.valid() && !rank.trace.runs.empty())
            diagnostic.run = RunId(0);
    }
}

/// Two files of one rank are no ranks: then none is believed.
void dropDoubledRanks(std::vector<ImportedRank>& ranks)
{
    std::set<std::int32_t> seen;
    const bool doubled = std::any_of(ranks.begin(), ranks.end(),
                                     [&](const ImportedRank& r) { return r.rank >= 0 && !seen.insert(r.rank).second; });
    for (ImportedRank& rank : ranks)
        rank.rank = doubled ? -1 : rank.rank;
}

}  // namespace

std::string runNameOf(std::string_view file)
{
    static constexpr std::array<std::string_view, 13> kEndings{".gz",      ".tmp", ".tgz",      ".tar",   ".json",
                                                               ".trace",   ".pt",  ".nsys-rep", ".qdrep", ".sqlite",
                                                               ".sqlite3", ".db",  ".raw"};
    for (bool cut = true; cut;) {
        cut = false;
        for (const std::string_view ending : kEndings) {
            if (file.size() > ending.size() && file.ends_with(ending)) {
                file.remove_suffix(ending.size());
                cut = true;
            }
        }
    }
    return std::string(file);
}

std::int32_t rankInName(std::string_view file)
{
    static constexpr std::array<std::string_view, 4> kWords{"rank", "worker", "node", "gpu"};
    std::string lower(file);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const std::string_view word : kWords) {
        for (std::size_t at = lower.find(word); at != std::string::npos; at = lower.find(word, at + 1)) {
            std::size_t digits = at + word.size();
            if (digits < lower.size() && (lower[digits] == '_' || lower[digits] == '-'))
                ++digits;
            std::int32_t rank = -1;
            if (std::from_chars(lower.data() + digits, lower.data() + lower.size(), rank).ec == std::errc() &&
                rank >= 0)
                return rank;
        }
    }
    return -1;
}

Trace joinRanks(std::vector<ImportedRank> ranks)
{
    if (ranks.size() > 1) {
        dropDoubledRanks(ranks);
        std::stable_sort(ranks.begin(), ranks.end(),
                         [](const ImportedRank& a, const ImportedRank& b) { return a.rank < b.rank; });
        for (ImportedRank& rank : ranks)
            nameRuns(rank);
    }
    ClockAlignment clocks = alignClocks(ranks);
    Joiner joiner;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        joiner.add(std::move(ranks[i].trace), clocks.shiftNs[i]);
    Trace trace = joiner.take();
    append(trace.diagnostics, clocks.diagnostics);
    if (clocks.epochWallNs != 0)
        trace.meta["start_wall_ns"] = std::to_string(clocks.epochWallNs);
    return trace;
}

}  // namespace fp8scope::import

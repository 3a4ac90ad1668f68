// SPDX-License-Identifier: Apache-2.0
// The tables and columns of an nsys export that scripts ask, in the schema of 3.17; rows as nsys would have recorded
// them. Names that nsys keeps as numbers stand beside these in a column "nameId", so that nothing is lost on the way
// back.
#include "collector/export/nsys_sqlite.h"

#include "collector/export/nsys_names.h"
#include "collector/export/track_places.h"
#include "collector/trace/error.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

namespace fp8scope::exporter {
namespace {

constexpr const char* kSchema = R"sql(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, totalMemory INTEGER,
    memoryBandwidth INTEGER, smCount INTEGER, cuDevice INTEGER, computeMajor INTEGER, computeMinor INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, registersPerThread INTEGER NOT NULL,
    gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL,
    blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
    dynamicSharedMemory INTEGER NOT NULL, clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    graphId INTEGER NOT NULL, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    value INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER,
    globalPid INTEGER, syncType INTEGER NOT NULL, nameId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
    globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
)sql";

constexpr std::int64_t kVm = std::int64_t{1} << 48;

/// A statement that inserts one row a call.
class Insert {
public:
    Insert(SQLite::Database& db, const std::string& table, int columns)
        : m_statement(db, "INSERT INTO " + table + " VALUES (" + marks(columns) + ")")
    {}

    template <typename... Values>
    void operator()(const Values&... values)
    {
        int parameter = 0;
        (bind(++parameter, values), ...);
        m_statement.exec();
        m_statement.reset();
    }

private:
    static std::string marks(int columns)
    {
        std::string text = "?";
        for (int c = 1; c < columns; ++c)
            text += ",?";
        return text;
    }
    void bind(int parameter, std::int64_t value) { m_statement.bind(parameter, value); }
    void bind(int parameter, const std::string& value) { m_statement.bind(parameter, value); }
    void bind(int parameter, std::nullptr_t) { m_statement.bind(parameter); }
    void bind(int parameter, const std::optional<std::int64_t>& value)
    {
        value ? m_statement.bind(parameter, *value) : m_statement.bind(parameter);
    }

    SQLite::Statement m_statement;
};

class NsysWriter {
public:
    NsysWriter(const Trace& trace, const std::vector<bool>& wanted, SQLite::Database& db)
        : m_trace(trace), m_wanted(wanted), m_db(db), m_places(placeTracks(trace)),
          m_kernel(db, "CUPTI_ACTIVITY_KIND_KERNEL", 21), m_graph(db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 9),
          m_copy(db, "CUPTI_ACTIVITY_KIND_MEMCPY", 12), m_memset(db, "CUPTI_ACTIVITY_KIND_MEMSET", 11),
          m_wait(db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 9), m_call(db, "CUPTI_ACTIVITY_KIND_RUNTIME", 7),
          m_range(db, "NVTX_EVENTS", 8)
    {
        for (const Name& name : trace.names)
            m_hasStepSlices |= name.text.starts_with("ProfilerStep#");
    }

    void write(const std::string& writer)
    {
        writeTarget(writer);
        writeProcesses();
        for (std::uint32_t t = 0; t < m_trace.tracks.size(); ++t)
            if (m_wanted[m_trace.tracks[t].run.value])
                writeTrack(t);
        if (!m_hasStepSlices)
            for (const Step& step : m_trace.steps)
                if (m_wanted[step.run.value])
                    writeStep(step);
        Insert strings(m_db, "StringIds", 2);
        for (const auto& [text, id] : m_strings)
            strings(id, text);
    }

private:
    /// Only names that rows refer to are written.
    std::int64_t stringId(const std::string& text)
    {
        return m_strings.try_emplace(text, static_cast<std::int64_t>(m_strings.size()) + 1).first->second;
    }
    struct KernelStrings {
        std::int64_t full = 0, brief = 0;
    };
    const KernelStrings& kernelStrings(NameId id)
    {
        m_kernelStrings.resize(m_trace.names.size());
        KernelStrings& strings = m_kernelStrings[id.value];
        if (strings.full == 0) {
            const std::string& name = m_trace.name(id).text;
            strings = {stringId(name), stringId(std::string(shortKernelName(name)))};
        }
        return strings;
    }
    std::int64_t nameId(NameId id)
    {
        m_nameIds.resize(m_trace.names.size());
        if (m_nameIds[id.value] == 0)
            m_nameIds[id.value] = stringId(m_trace.name(id).text);
        return m_nameIds[id.value];
    }

    static std::int64_t globalPid(std::uint32_t pid) { return kVm | static_cast<std::int64_t>(pid & 0xffffff) << 24; }
    std::int64_t globalTid(std::uint32_t track) const
    {
        const TrackPlace& place = m_places.tracks[track];
        return globalPid(place.pid) | static_cast<std::int64_t>(place.row & 0xffffff);
    }

    void writeTarget(const std::string& writer)
    {
        Insert meta(m_db, "META_DATA_EXPORT", 2);
        const std::size_t space = writer.find(' ');
        for (const auto& [name, value] : std::initializer_list<std::pair<std::string, std::string>>{
                 {"EXPORT_PRODUCT_NAME", writer.substr(0, space)},
                 {"EXPORT_PRODUCT_VERSION", space == std::string::npos ? "" : writer.substr(space + 1)},
                 {"EXPORT_SCHEMA_VERSION", "3.17.2"},
                 {"EXPORT_SCHEMA_VERSION_MAJOR", "3"},
                 {"EXPORT_SCHEMA_VERSION_MINOR", "17"},
                 {"EXPORT_SCHEMA_VERSION_MICRO", "2"}})
            meta(name, value);
        if (const auto at = m_trace.meta.find("start_wall_ns"); at != m_trace.meta.end())
            Insert(m_db, "TARGET_INFO_SESSION_START_TIME",
                   1)(std::int64_t{std::strtoll(at->second.c_str(), nullptr, 10)});
        Insert gpu(m_db, "TARGET_INFO_GPU", 9);
        for (std::uint32_t d = 0; d < m_trace.devices.size(); ++d) {
            const Device& device = m_trace.devices[d];
            std::optional<std::int64_t> major, minor;
            if (device.arch.starts_with("sm_") && device.arch.size() >= 5) {
                minor = device.arch.back() - '0';
                major = std::strtoll(device.arch.substr(3, device.arch.size() - 4).c_str(), nullptr, 10);
            }
            gpu(kVm, std::int64_t{d}, device.name, static_cast<std::int64_t>(device.memoryBytes),
                static_cast<std::int64_t>(device.peakBandwidth), std::int64_t{device.units}, std::int64_t{d}, major,
                minor);
        }
    }

    void writeProcesses()
    {
        Insert processes(m_db, "PROCESSES", 3);
        Insert devices(m_db, "TARGET_INFO_CUDA_DEVICE", 3);
        Insert threads(m_db, "ThreadNames", 3);
        std::map<std::uint32_t, bool> done;
        for (std::uint32_t t = 0; t < m_trace.tracks.size(); ++t) {
            const Track& track = m_trace.tracks[t];
            const std::int64_t pid = m_places.tracks[t].pid;
            if (track.kind == TrackKind::CpuThread)
                threads(stringId(threadName(track.name)), std::int64_t{20}, globalTid(t));
            if (!track.process.valid() || !done.try_emplace(track.process.value).second)
                continue;
            processes(globalPid(m_places.tracks[t].pid), pid, m_trace.processes[track.process.value].name);
            for (std::uint32_t d = 0; d < m_trace.devices.size(); ++d)
                devices(std::int64_t{d}, std::int64_t{d}, pid);
        }
    }

    /// "python3" of "thread 4242 (python3)".
    static std::string threadName(const std::string& track)
    {
        const std::size_t open = track.find(" (");
        return track.starts_with("thread ") && open != std::string::npos && track.back() == ')'
                   ? track.substr(open + 2, track.size() - open - 3)
                   : track;
    }

    void writeTrack(std::uint32_t t)
    {
        const Track& track = m_trace.tracks[t];
        for (std::size_t i = 0; i < track.slices.size(); ++i) {
            if (isDeviceWork(track, m_trace.name(track.slices.name[i])))
                writeWork(t, i);
            else
                writeHost(t, i);
        }
    }

    void writeWork(std::uint32_t t, std::size_t i)
    {
        const Track& track = m_trace.tracks[t];
        const SliceColumns& s = track.slices;
        const Name& name = m_trace.name(s.name[i]);
        const std::int64_t start = s.startNs[i], end = s.endNs(i), context = 1;
        const std::int64_t device = track.device.valid() ? track.device.value : 0;
        const auto stream = static_cast<std::int64_t>(m_places.tracks[t].row);
        const std::int64_t process = globalPid(m_places.tracks[t].pid);
        const std::optional<std::int64_t> correlation = correlationOf(s, i);
        const auto bytes = static_cast<std::int64_t>(s.bytes.empty() ? 0 : s.bytes[i]);
        switch (name.kind) {
        case NameKind::Memcpy: {
            const CopyKind kind = copyKindOf(name.text);
            m_copy(start, end, device, context, stream, correlation, process, bytes, kind.way, kind.from, kind.to,
                   nameId(s.name[i]));
            return;
        }
        case NameKind::Memset:
            m_memset(start, end, device, context, stream, correlation, process, std::int64_t{0}, bytes,
                     memoryKindOf(name.text), nameId(s.name[i]));
            return;
        case NameKind::Sync:
            m_wait(start, end, device, context, stream, correlation, process, waitKindOf(name.text), nameId(s.name[i]));
            return;
        case NameKind::Graph:
            m_graph(start, end, device, context, stream, correlation, process, std::int64_t{s.name[i].value},
                    nameId(s.name[i]));
            return;
        default: break;
        }
        const LaunchShape shape = !s.launchShape.empty() && s.launchShape[i].valid()
                                      ? m_trace.launchShapes[s.launchShape[i].value]
                                      : LaunchShape{};
        const KernelStrings& strings = kernelStrings(s.name[i]);
        const auto wide = [](std::uint32_t v) { return std::int64_t{v}; };
        m_kernel(start, end, device, context, stream, correlation, process, strings.full, strings.brief,
                 wide(shape.registers), wide(shape.grid[0]), wide(shape.grid[1]), wide(shape.grid[2]),
                 wide(shape.block[0]), wide(shape.block[1]), wide(shape.block[2]), wide(shape.staticShared),
                 wide(shape.dynamicShared), wide(shape.cluster[0]), wide(shape.cluster[1]), wide(shape.cluster[2]));
    }

    static std::optional<std::int64_t> correlationOf(const SliceColumns& s, std::size_t i)
    {
        if (s.correlation.empty() || s.correlation[i] == 0)
            return std::nullopt;
        return static_cast<std::int64_t>(s.correlation[i]);
    }

    void writeHost(std::uint32_t t, std::size_t i)
    {
        const Track& track = m_trace.tracks[t];
        const SliceColumns& s = track.slices;
        const Name& name = m_trace.name(s.name[i]);
        if (name.kind == NameKind::Api) {
            const bool driver = name.text.starts_with("cu") && !name.text.starts_with("cuda");
            m_call(s.startNs[i], s.endNs(i), std::int64_t{driver}, globalTid(t), correlationOf(s, i), nameId(s.name[i]),
                   std::int64_t{0});
            return;
        }
        // NVTX: 34 a mark, 59 pushed and popped on a thread, 60 started and ended wherever.
        const std::int64_t type = s.durNs[i] == 0 ? 34 : track.kind == TrackKind::CpuThread ? 59 : 60;
        m_range(s.startNs[i], type == 34 ? std::nullopt : std::optional(s.endNs(i)), type, nullptr, globalTid(t),
                nullptr, nameId(s.name[i]), std::int64_t{0});
    }

    void writeStep(const Step& step)
    {
        const auto track = std::find_if(m_trace.tracks.begin(), m_trace.tracks.end(),
                                        [&](const Track& t) { return t.run == step.run; });
        const auto at = static_cast<std::size_t>(track - m_trace.tracks.begin());
        const std::int64_t process = track == m_trace.tracks.end() ? kVm : globalPid(m_places.tracks[at].pid);
        m_range(step.startNs, std::optional(step.startNs + step.durNs), std::int64_t{60},
                fmt::format("ProfilerStep#{}", step.index), process, nullptr, nullptr, std::int64_t{0});
    }

    const Trace& m_trace;
    const std::vector<bool>& m_wanted;
    SQLite::Database& m_db;
    TracePlaces m_places;
    Insert m_kernel, m_graph, m_copy, m_memset, m_wait, m_call, m_range;
    std::map<std::string, std::int64_t> m_strings;
    std::vector<KernelStrings> m_kernelStrings;  ///< by NameId; 0: not yet used
    std::vector<std::int64_t> m_nameIds;
    bool m_hasStepSlices = false;
};

}  // namespace

void writeNsysSqlite(const Trace& trace, const std::vector<bool>& wanted, const std::string& writer,
                     const std::filesystem::path& path)
{
    const std::filesystem::path partial = path.string() + ".part";
    std::error_code error;
    std::filesystem::remove(partial, error);
    try {
        SQLite::Database db(partial.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        // The file is worth nothing until it is whole, so a journal would only cost.
        db.exec("PRAGMA journal_mode = OFF");
        db.exec("PRAGMA synchronous = OFF");
        db.exec("BEGIN");
        db.exec(kSchema);
        NsysWriter(trace, wanted, db).write(writer);
        db.exec("COMMIT");
    } catch (const SQLite::Exception& e) {
        std::filesystem::remove(partial, error);
        throw Error(fmt::format("cannot be written ({})", e.what()), path.string(),
                    "check the folder's permissions and free space");
    }
    std::filesystem::rename(partial, path, error);
    if (!error)
        return;
    const std::string reason = error.message();
    std::filesystem::remove(partial, error);
    throw Error(fmt::format("cannot be put in its place ({})", reason), path.string(),
                "check the folder's permissions");
}

}  // namespace fp8scope::exporter

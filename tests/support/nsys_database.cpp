// SPDX-License-Identifier: Apache-2.0
#include "tests/support/nsys_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fp8scope::test {
namespace {

using G = NsysGeneration;

class Database {
public:
    explicit Database(const std::filesystem::path& path)
    {
        std::filesystem::remove(path);
        check(sqlite3_open(path.c_str(), &m_db));
        run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    }
    ~Database() { sqlite3_close(m_db); }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void run(const std::string& sql) { check(sqlite3_exec(m_db, sql.c_str(), nullptr, nullptr, nullptr)); }
    sqlite3* handle() { return m_db; }
    void check(int code)
    {
        if (code != SQLITE_OK)
            throw std::runtime_error(sqlite3_errmsg(m_db));
    }

private:
    sqlite3* m_db = nullptr;
};

/// An integer, a text or NULL.
struct Value {
    std::optional<std::int64_t> integer;
    std::optional<std::string> text;
    Value() = default;
    Value(std::int64_t v) : integer(v) {}
    Value(std::string v) : text(std::move(v)) {}
};

struct Column {
    std::string_view name;
    std::string_view type = "INTEGER";
    bool present = true;
};

/// A table with the columns that its generation has. Made with its first row, as nsys does, unless empty ones are
/// wanted.
class Table {
public:
    Table(Database& db, std::string name, std::vector<Column> columns, bool evenIfEmpty)
        : m_db(db), m_name(std::move(name)), m_columns(std::move(columns))
    {
        if (evenIfEmpty)
            create();
    }
    ~Table() { sqlite3_finalize(m_insert); }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    /// One value for every column, those that are not present included.
    void row(const std::vector<Value>& values)
    {
        if (m_insert == nullptr)
            create();
        int parameter = 0;
        for (std::size_t c = 0; c < m_columns.size(); ++c) {
            if (!m_columns[c].present)
                continue;
            ++parameter;
            if (values.at(c).integer)
                sqlite3_bind_int64(m_insert, parameter, *values[c].integer);
            else if (values[c].text)
                sqlite3_bind_text(m_insert, parameter, values[c].text->data(), static_cast<int>(values[c].text->size()),
                                  SQLITE_TRANSIENT);
            else
                sqlite3_bind_null(m_insert, parameter);
        }
        if (sqlite3_step(m_insert) != SQLITE_DONE)
            throw std::runtime_error(m_name + ": " + sqlite3_errmsg(m_db.handle()));
        sqlite3_reset(m_insert);
    }

private:
    void create()
    {
        std::string columns;
        std::string marks;
        for (const Column& column : m_columns) {
            if (!column.present)
                continue;
            columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", column.name, column.type);
            marks += marks.empty() ? "?" : ", ?";
        }
        m_db.run(fmt::format("CREATE TABLE \"{}\" ({})", m_name, columns));
        const std::string insert = fmt::format("INSERT INTO \"{}\" VALUES ({})", m_name, marks);
        m_db.check(sqlite3_prepare_v2(m_db.handle(), insert.c_str(), -1, &m_insert, nullptr));
    }

    Database& m_db;
    std::string m_name;
    std::vector<Column> m_columns;
    sqlite3_stmt* m_insert = nullptr;
};

class Exporter {
public:
    Exporter(Database& db, const NsysFile& file) : m_db(db), m_file(file) {}

    void write()
    {
        for (std::uint32_t p = 0; p < m_file.processes; ++p)
            writeProcess(p);
        if (m_file.generation != G::Minimal) {
            writeTarget();
            writeSecrets();
        }
        writeVersion();
        writeStrings();
        if (m_file.userColumns)
            m_db.run(fmt::format("ALTER TABLE \"{}\" ADD COLUMN name TEXT", tableName("CUPTI_ACTIVITY_KIND_RUNTIME")));
        m_db.run("COMMIT");
    }

private:
    static constexpr std::int64_t kVm = std::int64_t{1} << 48;

    bool from(G generation) const { return m_file.generation >= generation && m_file.generation != G::Minimal; }
    bool full() const { return m_file.generation != G::Minimal; }
    std::string tableName(std::string_view name) const
    {
        return fmt::format("{}{}", name,
                           m_file.generation == G::Schema3_27 && !name.starts_with("TARGET_INFO") &&
                                   name != "StringIds" && !name.starts_with("META")
                               ? "_V2"
                               : "");
    }
    Table table(std::string_view name, std::vector<Column> columns)
    {
        return {m_db, tableName(name), std::move(columns), m_file.allTables};
    }
    std::int64_t stringId(std::string_view text)
    {
        return m_strings.try_emplace(std::string(text), static_cast<std::int64_t>(m_strings.size()) + 1).first->second;
    }

    static std::int64_t pidOf(std::uint32_t process) { return kNsysFirstPid + process; }
    static std::int64_t globalPid(std::uint32_t process) { return kVm | pidOf(process) << 24; }
    static std::int64_t globalTid(std::uint32_t process, ProfiledThread thread)
    {
        return globalPid(process) | (thread == ProfiledThread::Main ? pidOf(process) : 100'000 + process);
    }

    void writeProcess(std::uint32_t process)
    {
        ProfiledLoopShape shape = m_file.loop;
        shape.seed += process;
        const ProfiledLoop loop = makeProfiledLoop(shape);
        writeCalls(loop, process);
        if (m_file.onGpu) {
            if (m_file.graphTrace)
                writeGraphs(loop, process);
            else
                writeKernels(loop, process);
            writeCopies(loop, process);
        }
        if (full()) {
            writeRanges(loop, process);
            writeWaits(loop, process);
            writeThreads(loop, process);
        }
    }

    // Tables are kept for all processes: the second one adds to the table of the first.
    Table& kept(std::string_view name, std::vector<Column> columns)
    {
        auto& slot = m_tables[std::string(name)];
        if (!slot)
            slot = std::make_unique<Table>(m_db, tableName(name), std::move(columns), m_file.allTables);
        return *slot;
    }

    void writeKernels(const ProfiledLoop& loop, std::uint32_t process)
    {
        Table& out = kept("CUPTI_ACTIVITY_KIND_KERNEL", {{"start"},
                                                         {"end"},
                                                         {"deviceId"},
                                                         {"contextId", "INTEGER", full()},
                                                         {"greenContextId", "INTEGER", from(G::Schema3_13)},
                                                         {"streamId"},
                                                         {"correlationId"},
                                                         {"globalPid", "INTEGER", full()},
                                                         {"demangledName"},
                                                         {"shortName"},
                                                         {"mangledName", "INTEGER", from(G::Schema2_9)},
                                                         {"launchType", "INTEGER", full()},
                                                         {"registersPerThread", "INTEGER", full()},
                                                         {"gridX"},
                                                         {"gridY"},
                                                         {"gridZ"},
                                                         {"blockX"},
                                                         {"blockY"},
                                                         {"blockZ"},
                                                         {"staticSharedMemory", "INTEGER", full()},
                                                         {"dynamicSharedMemory", "INTEGER", full()},
                                                         {"graphNodeId", "INTEGER", full()},
                                                         {"graphId", "INTEGER", from(G::Schema3_24)},
                                                         {"clusterX", "INTEGER", from(G::Schema3_24)},
                                                         {"clusterY", "INTEGER", from(G::Schema3_24)},
                                                         {"clusterZ", "INTEGER", from(G::Schema3_24)},
                                                         {"tensorSizeMinusOneElements", "TEXT", from(G::Schema3_27)}});
        for (const ProfiledWork& w : loop.work) {
            if (w.kind != NameKind::Kernel)
                continue;
            const std::int64_t name = stringId(w.name);
            const LaunchShape& s = w.shape;
            out.row({w.startNs,
                     w.startNs + w.durNs,
                     deviceOf(process),
                     1,
                     0,
                     w.stream,
                     signedId(w.correlation),
                     globalPid(process),
                     name,
                     stringId(w.name.substr(0, w.name.find_first_of("<("))),
                     Value(),
                     1,
                     s.registers,
                     s.grid[0],
                     s.grid[1],
                     s.grid[2],
                     s.block[0],
                     s.block[1],
                     s.block[2],
                     s.staticShared,
                     s.dynamicShared,
                     Value(),
                     Value(),
                     s.cluster[0],
                     s.cluster[1],
                     s.cluster[2],
                     Value(std::string("[]"))});
        }
    }

    /// One box a step for the kernels of the compute stream, as with --cuda-graph-trace=graph.
    void writeGraphs(const ProfiledLoop& loop, std::uint32_t process)
    {
        Table& out = kept("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {{"start"},
                                                              {"end"},
                                                              {"deviceId"},
                                                              {"contextId"},
                                                              {"streamId"},
                                                              {"correlationId"},
                                                              {"globalPid"},
                                                              {"graphId"},
                                                              {"graphExecId"}});
        for (const ProfiledRange& step : loop.ranges) {
            if (step.module)
                continue;
            std::int64_t start = INT64_MAX;
            std::int64_t end = INT64_MIN;
            std::uint64_t correlation = 0;
            for (const ProfiledWork& w : loop.work) {
                if (w.kind != NameKind::Kernel || w.stream != 7 || w.startNs < step.startNs ||
                    w.startNs >= step.startNs + step.durNs)
                    continue;
                correlation = start == INT64_MAX ? w.correlation : correlation;
                start = std::min(start, w.startNs);
                end = std::max(end, w.startNs + w.durNs);
            }
            out.row({start, end, deviceOf(process), 1, 7, signedId(correlation), globalPid(process), 1, 2});
        }
    }

    void writeCopies(const ProfiledLoop& loop, std::uint32_t process)
    {
        const bool one = full();
        Table& copies = kept("CUPTI_ACTIVITY_KIND_MEMCPY", {{"start"},
                                                            {"end"},
                                                            {"deviceId"},
                                                            {"contextId", "INTEGER", one},
                                                            {"streamId"},
                                                            {"correlationId"},
                                                            {"globalPid", "INTEGER", one},
                                                            {"bytes"},
                                                            {"copyKind"},
                                                            {"srcKind", "INTEGER", one},
                                                            {"dstKind", "INTEGER", one},
                                                            {"copyCount", "INTEGER", from(G::Schema3_17)}});
        Table& sets = kept("CUPTI_ACTIVITY_KIND_MEMSET", {{"start"},
                                                          {"end"},
                                                          {"deviceId"},
                                                          {"contextId", "INTEGER", one},
                                                          {"streamId"},
                                                          {"correlationId"},
                                                          {"globalPid", "INTEGER", one},
                                                          {"value"},
                                                          {"bytes"},
                                                          {"graphNodeId", "INTEGER", one},
                                                          {"memKind", "INTEGER", one}});
        for (const ProfiledWork& w : loop.work) {
            const auto bytes = static_cast<std::int64_t>(w.bytes);
            if (w.kind == NameKind::Memcpy)
                copies.row({w.startNs, w.startNs + w.durNs, deviceOf(process), 1, w.stream, signedId(w.correlation),
                            globalPid(process), bytes, 1, 1, 2, 1});
            else if (w.kind == NameKind::Memset)
                sets.row({w.startNs, w.startNs + w.durNs, deviceOf(process), 1, w.stream, signedId(w.correlation),
                          globalPid(process), 0, bytes, Value(), 2});
        }
    }

    void writeCalls(const ProfiledLoop& loop, std::uint32_t process)
    {
        Table& out = kept("CUPTI_ACTIVITY_KIND_RUNTIME", {{"start"},
                                                          {"end"},
                                                          {"eventClass", "INTEGER", full()},
                                                          {"globalTid"},
                                                          {"correlationId"},
                                                          {"nameId"},
                                                          {"returnValue", "INTEGER", full()}});
        for (const ProfiledCall& c : loop.calls) {
            const std::string name = c.driver ? std::string(c.name) : fmt::format("{}_v7000", c.name);
            out.row({c.startNs, c.startNs + c.durNs, c.driver, globalTid(process, c.thread), signedId(c.correlation),
                     stringId(name), 0});
        }
    }

    void writeRanges(const ProfiledLoop& loop, std::uint32_t process)
    {
        Table& out = kept("NVTX_EVENTS", {{"start"},
                                          {"end"},
                                          {"eventType"},
                                          {"rangeId"},
                                          {"category"},
                                          {"color"},
                                          {"text", "TEXT"},
                                          {"globalTid"},
                                          {"endGlobalTid"},
                                          {"textId"},
                                          {"domainId"}});
        const std::int64_t main = globalTid(process, ProfiledThread::Main);
        const auto event = [&](std::int64_t type, Value start, Value end, Value text, Value textId,
                               std::int64_t domain = 0, Value endTid = {}) {
            out.row({std::move(start), std::move(end), type, Value(), Value(), Value(), std::move(text), main,
                     std::move(endTid), std::move(textId), domain});
        };
        event(75, 100, Value(), std::string("NCCL"), Value(), 1);
        event(39, 200, Value(), std::string("trainer"), Value());
        for (const ProfiledRange& r : loop.ranges)
            event(59, r.startNs, r.startNs + r.durNs, r.module ? Value() : Value(r.name),
                  r.module ? Value(stringId(r.name)) : Value());
        for (const ProfiledCall& c : loop.calls)
            if (isCollective(loop, c))
                event(59, c.startNs - 100, c.startNs + c.durNs + 100, Value(), stringId("ncclAllReduce"), 1);
        event(34, 2'500'000, Value(), std::string("data loaded"), Value());
        event(60, 2'100'000, 2'400'000, std::string("prefetch"), Value(), 0,
              globalTid(process, ProfiledThread::Backward));
        event(60, 2'200'000, Value(), std::string("left open"), Value());
    }

    static bool isCollective(const ProfiledLoop& loop, const ProfiledCall& call)
    {
        const auto& work = loop.work[static_cast<std::size_t>(call.correlation - loop.calls.front().correlation)];
        return work.stream == 20;
    }

    void writeWaits(const ProfiledLoop& loop, std::uint32_t process)
    {
        Table& waits = kept("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {{"start"},
                                                                    {"end"},
                                                                    {"deviceId"},
                                                                    {"contextId"},
                                                                    {"streamId"},
                                                                    {"correlationId"},
                                                                    {"globalPid"},
                                                                    {"syncType"},
                                                                    {"eventId"}});
        if (m_file.onGpu && !loop.ranges.empty())
            waits.row({loop.ranges.front().startNs, loop.ranges.front().startNs + 900, deviceOf(process), 1, 4294967295,
                       999'999, globalPid(process), 4, 4294967295});
        Table& overhead = kept("PROFILER_OVERHEAD", {{"start"}, {"end"}, {"globalTid"}, {"nameId"}, {"returnValue"}});
        overhead.row(
            {500'000, 600'000, globalTid(process, ProfiledThread::Main), stringId("CUDA profiling initialization"), 0});
        if (from(G::Schema3_24)) {
            Table& cupti = kept(
                "CUPTI_ACTIVITY_KIND_OVERHEAD",
                {{"start"}, {"end"}, {"eventClass"}, {"globalTid"}, {"correlationId"}, {"nameId"}, {"overheadType"}});
            cupti.row({700'000, 750'000, 103, globalTid(process, ProfiledThread::Main), 1,
                       stringId("Lazy function loading"), 7});
            Table& events = kept("CUPTI_ACTIVITY_KIND_CUDA_EVENT", {{"timestamp"},
                                                                    {"deviceId"},
                                                                    {"contextId"},
                                                                    {"streamId"},
                                                                    {"correlationId"},
                                                                    {"globalPid"},
                                                                    {"eventId"}});
            if (m_file.onGpu)
                events.row({3'000'000, deviceOf(process), 1, 7, 999'998, globalPid(process), 1});
        }
        Table& os = kept("OSRT_API", {{"start"}, {"end"}, {"eventClass"}, {"globalTid"}, {"nameId"}, {"returnValue"}});
        os.row({300'000, 350'000, 27, globalTid(process, ProfiledThread::Main), stringId("pthread_create"), 0});
    }

    void writeThreads(const ProfiledLoop&, std::uint32_t process)
    {
        Table& threads = kept("ThreadNames", {{"nameId"}, {"priority"}, {"globalTid"}});
        threads.row({stringId("python3"), 20, globalTid(process, ProfiledThread::Main)});
        threads.row({stringId("pt_autograd_0"), 20, globalTid(process, ProfiledThread::Backward)});
        threads.row({stringId("kworker/0:1"), 20, kVm | std::int64_t{7} << 24 | 7});
        if (!from(G::Schema2_9))
            return;
        Table& processes = kept("PROCESSES", {{"globalPid"}, {"pid"}, {"name", "TEXT"}});
        processes.row({globalPid(process), pidOf(process), std::string("python3")});
        processes.row({kVm | std::int64_t{7} << 24, 7, std::string("kworker/0:1")});
    }

    /// GPUs in reverse: the CUDA ordinal is not the row's id, as on real machines.
    void writeTarget()
    {
        const auto gpus = static_cast<std::int64_t>(std::max(m_file.processes, 2U));
        if (m_file.generation == G::V2021) {
            Table out = table("TARGET_INFO_CUDA_GPU", {{"deviceId"},
                                                       {"pid"},
                                                       {"name", "TEXT"},
                                                       {"numMultiprocessors"},
                                                       {"computeCapabilityMajor"},
                                                       {"computeCapabilityMinor"},
                                                       {"globalMemorySize"},
                                                       {"globalMemoryBandwidth"},
                                                       {"coreClockRate"}});
            for (std::uint32_t p = 0; p < m_file.processes; ++p)
                for (std::int64_t gpu = 0; gpu < gpus; ++gpu)
                    out.row({gpu, pidOf(p), std::string("NVIDIA H100 80GB HBM3"), 132, 9, 0, 81920, 0, 1980000});
            return;
        }
        Table gpu = table("TARGET_INFO_GPU", {{"vmId"},
                                              {"id"},
                                              {"name", "TEXT"},
                                              {"totalMemory"},
                                              {"memoryBandwidth"},
                                              {"clockRate"},
                                              {"smCount"},
                                              {"uuid", "TEXT"},
                                              {"chipName", "TEXT"},
                                              {"cuDevice"},
                                              {"computeMajor"},
                                              {"computeMinor"}});
        for (std::int64_t id = gpus; id-- > 0;)
            gpu.row({kVm, id, fmt::format("NVIDIA H100 80GB HBM3 #{}", id), 85'899'345'920, 3'352'320'000'000,
                     1'980'000'000, 132, fmt::format("uuid-{}", id), std::string("GH100"), gpus - 1 - id, 9, 0});
        if (from(G::Schema3_17)) {
            Table cuda = table("TARGET_INFO_CUDA_DEVICE", {{"gpuId"}, {"cudaId"}, {"pid"}});
            for (std::uint32_t p = 0; p < m_file.processes; ++p)
                for (std::int64_t id = 0; id < gpus; ++id)
                    cuda.row({id, gpus - 1 - id, pidOf(p)});
        }
        Table session = table("TARGET_INFO_SESSION_START_TIME", {{"utcEpochNs"}, {"utcTime", "TEXT"}});
        session.row({kNsysSessionStartNs, std::string("2026-08-01T21:34:04")});
    }
    std::int64_t deviceOf(std::uint32_t process) const { return process; }

    void writeSecrets()
    {
        const std::string secret(kNsysSecret);
        Table environment =
            table("TARGET_INFO_SYSTEM_ENV",
                  {{"globalVid"}, {"devStateName", "TEXT"}, {"name", "TEXT"}, {"nameEnum"}, {"value", "TEXT"}});
        environment.row({kVm, std::string("System"), std::string("AWS_SECRET_ACCESS_KEY"), 1, secret});
        Table capture = table("META_DATA_CAPTURE", {{"name", "TEXT"}, {"value", "TEXT"}});
        capture.row({std::string("LAUNCH_0:ENVIRONMENT_VARIABLES"), "TOKEN=" + secret});
        Table streams = table("ProcessStreams", {{"globalPid"}, {"filenameId"}, {"contentId"}});
        streams.row({globalPid(0), stringId("stdout.log"), stringId("the token is " + secret)});
        if (m_file.generation == G::V2021)
            return;
        Table diagnostics =
            table("DIAGNOSTIC_EVENT",
                  {{"timestamp"}, {"timestampType"}, {"source"}, {"severity"}, {"text", "TEXT"}, {"globalPid"}});
        diagnostics.row({0, 1, 3, 1, std::string("Profiling has started."), Value()});
        diagnostics.row(
            {30'000, 1, 2, 2, std::string("Not all NVTX events\nmight have been collected."), globalPid(0)});
        diagnostics.row({30'001, 1, 1, 1, std::string("Number of CUDA events collected: 100."), globalPid(0)});
        if (!m_file.onGpu)
            diagnostics.row(
                {40'000, 1, 1, 3,
                 std::string("Installed CUDA driver version (13.3) is not supported by this build of Nsight Systems."),
                 globalPid(0)});
    }

    void writeVersion()
    {
        if (m_file.generation == G::V2021)
            return;
        static const std::map<G, std::pair<std::string, std::string>> versions{
            {G::Schema2_9, {"2022.2.1.31", "2.9.1"}},    {G::Schema3_1, {"2023.2.3.1004", "3.1.7"}},
            {G::Schema3_13, {"2024.5.1.113", "3.13.2"}}, {G::Schema3_17, {"2025.1.3.140", "3.17.2"}},
            {G::Schema3_24, {"2025.5.2.266", "3.24.0"}}, {G::Schema3_27, {"2026.3.1.157", "3.27.0"}},
            {G::Minimal, {"2025.1.1.0", "3.17.0"}}};
        const auto& [product, schema] = versions.at(m_file.generation);
        const bool old = m_file.generation == G::Schema2_9 || m_file.generation == G::Schema3_1;
        Table meta(m_db, old ? "EXPORT_META_DATA" : "META_DATA_EXPORT", {{"name", "TEXT"}, {"value", "TEXT"}}, true);
        meta.row({std::string("EXPORT_PRODUCT_NAME"), std::string("NVIDIA Nsight Systems")});
        meta.row({std::string("EXPORT_PRODUCT_VERSION"), product});
        meta.row({std::string("EXPORT_SCHEMA_VERSION"), schema});
    }

    void writeStrings()
    {
        Table out(m_db, "StringIds", {{"id", "INTEGER PRIMARY KEY"}, {"value", "TEXT"}}, true);
        for (const auto& [text, id] : m_strings)
            out.row({id, text});
    }

    static std::int64_t signedId(std::uint64_t id) { return static_cast<std::int64_t>(id); }

    Database& m_db;
    const NsysFile& m_file;
    std::map<std::string, std::int64_t> m_strings;
    std::map<std::string, std::unique_ptr<Table>> m_tables;
};

}  // namespace

std::string_view toString(NsysGeneration generation)
{
    constexpr std::string_view names[] = {"V2021",      "Schema2_9",  "Schema3_1",  "Schema3_13",
                                          "Schema3_17", "Schema3_24", "Schema3_27", "Minimal"};
    return names[static_cast<std::size_t>(generation)];
}

void writeNsysDatabase(const std::filesystem::path& path, const NsysFile& file)
{
    Database db(path);
    Exporter(db, file).write();
}

}  // namespace fp8scope::test

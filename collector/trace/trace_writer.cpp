// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/trace_writer.h"

#include "collector/trace/block_store.h"
#include "collector/trace/row_io.h"
#include "collector/trace/trace_file.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <cassert>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace fp8scope {
namespace {

namespace fs = std::filesystem;

/// One table's INSERT and its next id.
template <typename Row>
struct Inserter {
    explicit Inserter(SQLite::Database& db) : statement(db, sql(db)) {}

    static std::string sql(SQLite::Database& db)
    {
        const SQLite::Statement columns(db, fmt::format("SELECT * FROM {}", rows::kTable<Row>));
        std::string marks = "?";
        for (int i = 1; i < columns.getColumnCount(); ++i)
            marks += ",?";
        return fmt::format("INSERT OR REPLACE INTO {} VALUES({})", rows::kTable<Row>, marks);
    }

    SQLite::Statement statement;
    std::uint32_t count = 0;
};

struct Inserters {
    explicit Inserters(SQLite::Database& db)
        : all(Inserter<Run>(db), Inserter<Process>(db), Inserter<Device>(db), Inserter<Track>(db), Inserter<Name>(db),
              Inserter<LaunchShape>(db), Inserter<Layer>(db), Inserter<TraceOp>(db), Inserter<Step>(db),
              Inserter<TensorStat>(db), Inserter<ExponentHistogram>(db), Inserter<StepValue>(db),
              Inserter<TensorError>(db), Inserter<MemoryClass>(db), Inserter<Sample>(db), Inserter<Diagnostic>(db))
    {}
    template <typename Row>
    Inserter<Row>& of()
    {
        return std::get<Inserter<Row>>(all);
    }
    std::tuple<Inserter<Run>, Inserter<Process>, Inserter<Device>, Inserter<Track>, Inserter<Name>,
               Inserter<LaunchShape>, Inserter<Layer>, Inserter<TraceOp>, Inserter<Step>, Inserter<TensorStat>,
               Inserter<ExponentHistogram>, Inserter<StepValue>, Inserter<TensorError>, Inserter<MemoryClass>,
               Inserter<Sample>, Inserter<Diagnostic>>
        all;
};

std::string keyOf(const Name& name)
{
    return fmt::format("{} {} {} {} {}", static_cast<int>(name.kind), static_cast<int>(name.role), name.fused.bits(),
                       static_cast<int>(name.precision), name.text.size())
        .append(name.text)
        .append(name.library);
}

std::string keyOf(const LaunchShape& shape)
{
    static_assert(std::has_unique_object_representations_v<LaunchShape>);
    return {reinterpret_cast<const char*>(&shape), sizeof(shape)};
}

}  // namespace

struct TraceWriter::Impl {
    fs::path path;
    WriterLock lock;
    SQLite::Database db;
    SQLite::Statement putMeta;
    Inserters inserters;
    BlockStore blocks;
    std::vector<RunId> trackRuns;
    std::unordered_map<std::string, NameId> names;
    std::unordered_map<std::string, LaunchShapeId> launchShapes;
    std::map<std::pair<RunId, std::string>, std::pair<std::uint32_t, Diagnostic>> diagnostics;
    bool inTransaction = false;
    bool closed = false;
    std::optional<Error> failure;  ///< the first one: a half-written file takes no more

    Impl(const fs::path& wanted, IfExists ifExists)
        : path(fs::weakly_canonical(wanted)), lock(path), db(open(ifExists)),
          putMeta(db, "INSERT OR REPLACE INTO meta VALUES(?, ?)"), inserters(db), blocks(db)
    {}

    SQLite::Database open(IfExists ifExists)
    {
        if (ifExists == IfExists::Refuse && fs::exists(path))
            throw Error("the file exists", path.string(), "choose another name, or say that it may be replaced");
        return createTraceFile(path);
    }

    /// Runs a change of the file inside the current batch. After a failure the batch is undone, and every later call
    /// says why.
    template <typename Change>
    auto change(Change&& make)
    {
        if (failure)
            throw *failure;
        assert(!closed && "the writer is closed");
        try {
            if (!inTransaction)
                db.exec("BEGIN IMMEDIATE");
            inTransaction = true;
            return make();
        } catch (const SQLite::Exception& e) {
            fail(traceFileError(path, e, "be written"));
        } catch (const rows::BadField& e) {
            throw Error(fmt::format("a row that {} cannot be recorded", e.what()), path.string(),
                        "this is a mistake of the program that records");
        }
    }

    [[noreturn]] void fail(Error error)
    {
        failure = std::move(error);
        if (sqlite3_get_autocommit(db.getHandle()) == 0)
            sqlite3_exec(db.getHandle(), "ROLLBACK", nullptr, nullptr, nullptr);
        inTransaction = false;
        throw *failure;
    }

    rows::Counts counts()
    {
        return {inserters.of<Run>().count, inserters.of<Process>().count, inserters.of<Device>().count,
                inserters.of<Track>().count, inserters.of<Layer>().count};
    }

    template <typename Row>
    void put(std::uint32_t id, const Row& row)
    {
        SQLite::Statement& statement = inserters.of<Row>().statement;
        statement.tryReset();
        statement.bind(1, id);
        rows::RowBinder binder(statement);
        rows::visit(binder, counts(), row);
        statement.exec();
        statement.reset();
    }

    template <typename Row>
    std::uint32_t add(const Row& row)
    {
        return change([&] {
            std::uint32_t& count = inserters.of<Row>().count;
            put(count, row);
            return count++;
        });
    }

    void addDiagnostic(const Diagnostic& diagnostic)
    {
        const auto [at, isNew] =
            diagnostics.try_emplace({diagnostic.run, diagnostic.name}, inserters.of<Diagnostic>().count, diagnostic);
        if (isNew)
            ++inserters.of<Diagnostic>().count;
        else
            at->second.second.count += diagnostic.count;
        put(at->second.first, at->second.second);
    }

    void tellOddities()
    {
        for (std::uint32_t track = 0; track < trackRuns.size(); ++track) {
            const BlockStore::Oddities oddities = blocks.takeOddities(track);
            if (oddities.negativeDurations > 0)
                addDiagnostic({trackRuns[track], "negative_duration", Severity::Error, oddities.negativeDurations,
                               "slices that ended before they started; kept with duration 0"});
            if (oddities.timesOutOfRange > 0)
                addDiagnostic({trackRuns[track], "time_out_of_range", Severity::DataLoss, oddities.timesOutOfRange,
                               "slices with an impossible start or duration; dropped"});
        }
    }

    void meta(std::string_view key, std::string_view value)
    {
        putMeta.bind(1, std::string(key));
        putMeta.bind(2, std::string(value));
        putMeta.exec();
        putMeta.reset();
    }

    void commit()
    {
        db.exec("COMMIT");
        inTransaction = false;
    }
};

TraceWriter::TraceWriter(const fs::path& path, IfExists ifExists)
{
    try {
        m_impl = std::make_unique<Impl>(path, ifExists);
    } catch (const SQLite::Exception& e) {
        throw traceFileError(path, e, "be made");
    } catch (const fs::filesystem_error& e) {
        throw Error(fmt::format("the trace cannot be made ({})", e.code().message()), path.string(),
                    "choose another name");
    }
}

TraceWriter::~TraceWriter()
{
    if (m_impl->closed || m_impl->failure)
        return;
    try {
        flush();
    } catch (const std::exception&) {
        // Nobody is left to tell; the file keeps the batches before, and its mark that it is incomplete.
    }
}

void TraceWriter::setMeta(std::string_view key, std::string_view value)
{
    assert(key != "complete" && "close() says that");
    m_impl->change([&] { m_impl->meta(key, value); });
}

RunId TraceWriter::addRun(const Run& run) { return RunId(m_impl->add(run)); }
void TraceWriter::updateRun(RunId id, const Run& run)
{
    assert(id.value < m_impl->counts().runs);
    m_impl->change([&] { m_impl->put(id.value, run); });
}
ProcessId TraceWriter::addProcess(const Process& process) { return ProcessId(m_impl->add(process)); }
DeviceId TraceWriter::addDevice(const Device& device) { return DeviceId(m_impl->add(device)); }
LayerId TraceWriter::addLayer(const Layer& layer) { return LayerId(m_impl->add(layer)); }
OpId TraceWriter::addOp(const TraceOp& op) { return OpId(m_impl->add(op)); }
void TraceWriter::addStep(const Step& step) { m_impl->add(step); }
void TraceWriter::addTensorStat(const TensorStat& stat) { m_impl->add(stat); }
void TraceWriter::addExponentHistogram(const ExponentHistogram& histogram) { m_impl->add(histogram); }
void TraceWriter::addStepValue(const StepValue& value) { m_impl->add(value); }
void TraceWriter::addTensorError(const TensorError& error) { m_impl->add(error); }
void TraceWriter::addMemoryClass(const MemoryClass& memory) { m_impl->add(memory); }
void TraceWriter::addSample(const Sample& sample) { m_impl->add(sample); }

TrackId TraceWriter::addTrack(const Track& track)
{
    const TrackId id(m_impl->add(track));
    m_impl->blocks.addTrack();
    m_impl->trackRuns.push_back(track.run);
    return id;
}

NameId TraceWriter::addName(const Name& name)
{
    std::string key = keyOf(name);
    if (const auto found = m_impl->names.find(key); found != m_impl->names.end())
        return found->second;
    const NameId id(m_impl->add(name));
    m_impl->names.emplace(std::move(key), id);
    return id;
}

LaunchShapeId TraceWriter::addLaunchShape(const LaunchShape& shape)
{
    std::string key = keyOf(shape);
    if (const auto found = m_impl->launchShapes.find(key); found != m_impl->launchShapes.end())
        return found->second;
    const LaunchShapeId id(m_impl->add(shape));
    m_impl->launchShapes.emplace(std::move(key), id);
    return id;
}

void TraceWriter::addSlices(TrackId track, std::span<const SliceRecord> slices)
{
    assert(track.value < m_impl->trackRuns.size());
    const BlockLimits limits{m_impl->inserters.of<Name>().count, m_impl->inserters.of<TraceOp>().count,
                             m_impl->inserters.of<LaunchShape>().count};
    m_impl->change([&] { m_impl->blocks.add(track.value, slices, limits); });
}

void TraceWriter::addDiagnostic(const Diagnostic& diagnostic)
{
    m_impl->change([&] { m_impl->addDiagnostic(diagnostic); });
}

void TraceWriter::flush()
{
    if (!m_impl->inTransaction && !m_impl->failure)
        return;
    m_impl->change([&] {
        m_impl->blocks.flush();
        m_impl->tellOddities();
        m_impl->commit();
    });
}

void TraceWriter::close()
{
    if (m_impl->closed)
        return;
    m_impl->change([&] {
        m_impl->blocks.finish();
        m_impl->tellOddities();
        m_impl->meta("complete", "1");
        m_impl->commit();
        // With a reader on the file these two leave the log for the last of them to fold in.
        sqlite3_exec(m_impl->db.getHandle(), "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
        sqlite3_exec(m_impl->db.getHandle(), "PRAGMA journal_mode = DELETE", nullptr, nullptr, nullptr);
    });
    m_impl->closed = true;
}

const fs::path& TraceWriter::path() const { return m_impl->path; }

}  // namespace fp8scope

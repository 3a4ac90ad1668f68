// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/trace_reader.h"

#include "collector/trace/error.h"
#include "collector/trace/row_io.h"
#include "collector/trace/slice_loader.h"
#include "collector/trace/trace_file.h"
#include "collector/trace/utf8.h"

#include <SQLiteCpp/Column.h>
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <system_error>

namespace fp8scope {
namespace {

constexpr const char* kMend = "copy the file again from where it was recorded, or record again";

class TableReader {
public:
    TableReader(const std::filesystem::path& path, SQLite::Database& db, const LoadOptions& options)
        : m_path(path), m_db(db), m_options(options)
    {}

    /// In this order: a table stands after those that it refers to.
    void readAll(Trace& trace)
    {
        readMeta(trace);
        m_counts.runs = read(trace.runs);
        m_counts.processes = read(trace.processes);
        m_counts.devices = read(trace.devices);
        m_counts.tracks = read(trace.tracks);
        read(trace.names);
        read(trace.launchShapes);
        m_counts.layers = read(trace.layers);
        read(trace.ops);
        read(trace.steps);
        read(trace.tensorStats);
        readIfThere(trace.histograms);
        readIfThere(trace.stepValues);
        readIfThere(trace.tensorErrors);
        read(trace.memory);
        read(trace.samples);
        read(trace.diagnostics);
        std::stable_sort(trace.steps.begin(), trace.steps.end(), [](const Step& a, const Step& b) {
            return a.run != b.run ? a.run < b.run : a.index < b.index;
        });
    }

private:
    void readMeta(Trace& trace)
    {
        SQLite::Statement rows(m_db, "SELECT key, value FROM meta");
        while (rows.executeStep())
            trace.meta.emplace(mendedUtf8(rows.getColumn(0).getString()), mendedUtf8(rows.getColumn(1).getString()));
        const auto complete = trace.meta.extract("complete");
        trace.complete = !complete.empty() && complete.mapped() == "1";
    }

    template <typename Row>
    std::uint32_t read(std::vector<Row>& table)
    {
        SQLite::Statement rows(m_db, fmt::format("SELECT * FROM {} ORDER BY id", rows::kTable<Row>));
        while (rows.executeStep()) {
            if (m_options.stop.stop_requested())
                throw LoadCancelled{};
            const std::int64_t id = rows.getColumn(0).getInt64();
            if (id != static_cast<std::int64_t>(table.size()))
                throw Error(
                    fmt::format("table '{}' has row {} where row {} should be", rows::kTable<Row>, id, table.size()),
                    m_path.string(), kMend);
            Row& row = table.emplace_back();
            try {
                rows::RowReader reader(rows);
                rows::visit(reader, m_counts, row);
            } catch (const rows::BadField& e) {
                throw Error(fmt::format("row {} of table '{}' {}", id, rows::kTable<Row>, e.what()), m_path.string(),
                            kMend);
            }
        }
        return static_cast<std::uint32_t>(table.size());
    }

    template <typename Row>
    void readIfThere(std::vector<Row>& table)
    {
        if (m_db.tableExists(rows::kTable<Row>))
            read(table);
    }

    const std::filesystem::path& m_path;
    SQLite::Database& m_db;
    const LoadOptions& m_options;
    rows::Counts m_counts;
};

}  // namespace

Trace loadTrace(const std::filesystem::path& path, const LoadOptions& options)
{
    try {
        SQLite::Database db = openTraceFile(path);
        db.exec("BEGIN");  // one state of a file that may grow meanwhile
        if (options.onProgress)
            options.onProgress({"tables", 0, 0});
        Trace trace;
        TableReader(path, db, options).readAll(trace);
        loadSlices(path, db, options, trace);
        return trace;
    } catch (const SQLite::Exception& e) {
        throw traceFileError(path, e, "be read");
    } catch (const std::system_error& e) {
        throw Error(fmt::format("the trace cannot be loaded ({})", e.what()), path.string(), "close other programs");
    } catch (const std::bad_alloc&) {
        throw Error("there is not enough memory to load the trace", path.string(),
                    "close other programs, or ask for parts of it with 'fp8scope query'");
    }
}

}  // namespace fp8scope

// SPDX-License-Identifier: Apache-2.0
// An nsys export from start to end: its tables one after another, then what nsys itself had to say, what was not read,
// and why nothing ran on a GPU where that is so.
#include "collector/import/nsys_reader.h"

#include "collector/import/nsys_events.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fp8scope::import {
namespace {

constexpr const char* kNsysError = "nsys_error";
constexpr const char* kNsysWarning = "nsys_warning";
constexpr const char* kGpuWords[] = {"CUDA", "CUPTI", "GPU", "driver"};
/// Of nsys, each a diagnostic of its own.
constexpr std::size_t kMostSentences = 100;

/// In the order of reading: calls first, whose processes the kernels of hand-made exports belong to; ranges last.
struct EventTable {
    void (*read)(NsysEvents&);
    std::array<const char*, 6> tables;  ///< that `read` reads
};
constexpr EventTable kEventTables[] = {
    {readNsysCalls, {"CUPTI_ACTIVITY_KIND_RUNTIME"}},
    {readNsysKernels, {"CUPTI_ACTIVITY_KIND_KERNEL"}},
    {readNsysGraphs, {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}},
    {readNsysCopies, {"CUPTI_ACTIVITY_KIND_MEMCPY"}},
    {readNsysMemsets, {"CUPTI_ACTIVITY_KIND_MEMSET"}},
    {readNsysWaits, {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"}},
    {readNsysCudaEvents, {"CUPTI_ACTIVITY_KIND_CUDA_EVENT"}},
    {readNsysLibraries,
     {"CUBLAS_EVENTS", "CUDNN_EVENTS", "MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS",
      "MPI_OTHER_EVENTS"}},
    {readNsysOverhead, {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"}},
    {readNsysRanges, {"NVTX_EVENTS"}},
    {readNsysMetrics, {"GPU_METRICS"}},
};

template <typename Each>
void eachTable(NsysDatabase& db, Each&& each)
{
    for (const EventTable& events : kEventTables)
        for (const char* name : events.tables)
            if (const NsysTable* const table = name != nullptr ? db.find(name) : nullptr)
                each(*table);
}

bool isNsys(NsysDatabase& db)
{
    if (db.find("StringIds") == nullptr)
        return false;
    const auto names = db.tableNames();
    return std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return name.starts_with("CUPTI_ACTIVITY_KIND_") || name.starts_with("NVTX_EVENTS") ||
               name.starts_with("TARGET_INFO_") || name.starts_with("META_DATA_EXPORT") ||
               name.starts_with("EXPORT_META_DATA") || name.starts_with("ANALYSIS_DETAILS");
    });
}

/// From whichever of the tables holds it; a file of 2021 holds none.
void readVersion(NsysEvents& to)
{
    std::string product = "Nsight Systems";
    std::string version;
    for (const char* name : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
        const NsysTable* const table = to.db.find(name);
        if (table == nullptr)
            continue;
        NsysRows rows(to.db, *table);
        const auto key = rows.column("name"), value = rows.column("value");
        while (rows.next()) {
            const std::string text = rows.text(key);
            if (text == "EXPORT_PRODUCT_VERSION")
                version = rows.text(value);
            else if (text == "EXPORT_PRODUCT_NAME" && rows.text(value) != "NVIDIA Nsight Systems")
                product = rows.text(value);  // fp8scope writes such files as well
            else if (text == "EXPORT_SCHEMA_VERSION")
                to.events.meta["nsys_schema"] = rows.text(value);
        }
    }
    to.events.producer = version.empty() ? product : product + " " + version;
}

void readSessionStart(NsysEvents& to)
{
    const NsysTable* const table = to.db.find("TARGET_INFO_SESSION_START_TIME");
    if (table == nullptr)
        return;
    NsysRows rows(to.db, *table);
    const auto utc = rows.column("utcEpochNs");
    if (rows.next() && rows.isInteger(utc))
        to.events.epochWallNs = std::max<std::int64_t>(rows.integer(utc), 0);
}

/// Runs a reader of a table, and says how far it came where the table is damaged.
template <typename Read>
bool readTolerantly(NsysEvents& to, const char* what, Read&& read)
{
    try {
        read(to);
        return true;
    } catch (const NsysDamage& damage) {
        to.count(
            fmt::format("table_damaged_{}", what), Severity::Error,
            fmt::format("the table {} is damaged ({}); the rows before the damage are shown", what, damage.what()));
        return false;
    }
}

/// Tables with times that no reader knows; their rows are told, not read.
void countNotShown(NsysEvents& to)
{
    std::vector<const NsysTable*> known{to.db.find("DIAGNOSTIC_EVENT")};
    eachTable(to.db, [&](const NsysTable& table) { known.push_back(&table); });
    for (const std::string& name : to.db.tableNames()) {
        const NsysTable* const table = to.db.find(name);
        if (table == nullptr || std::find(known.begin(), known.end(), table) != known.end())
            continue;
        const bool hasTimes = std::any_of(table->columns.begin(), table->columns.end(), [](const std::string& column) {
            return column == "start" || column == "timestamp";
        });
        if (hasTimes)
            to.count("not_shown_" + name, Severity::Info,
                     fmt::format("rows of the table {}, which fp8scope does not show", name),
                     to.db.approximateRows(*table));
    }
}

/// Of nsys' sentences, those that may tell why nothing was recorded on a GPU.
bool isAboutGpus(const Diagnostic& said)
{
    if (!said.name.starts_with(kNsysError) && !said.name.starts_with(kNsysWarning))
        return false;
    return std::any_of(std::begin(kGpuWords), std::end(kGpuWords),
                       [&](const char* word) { return said.text.find(word) != std::string::npos; });
}

/// What nsys recorded instead, and its own words of why.
void explainEmptyDevice(NsysEvents& to)
{
    const bool worked = std::any_of(to.events.device.begin(), to.events.device.end(), [&](const DeviceEvent& event) {
        return to.events.names[event.name.value].kind != NameKind::Sync;
    });
    if (worked)
        return;
    const bool calls = std::any_of(to.events.host.begin(), to.events.host.end(),
                                   [](const HostEvent& event) { return event.kind == HostKind::Api; });
    std::string why = "the export has no kernels, copies or graph launches. ";
    why += calls ? "CUDA's calls are there, so recording the GPU failed."
                 : "It has no CUDA calls either: CUDA was not traced (nsys profile --trace=cuda,nvtx) or not used.";
    for (const Diagnostic& said : to.events.diagnostics)
        if (isAboutGpus(said))
            why += " Nsight Systems says: " + said.text;
    to.count("no_gpu_work", Severity::DataLoss, why);
}

void readEvents(NsysEvents& to)
{
    std::uint64_t rows = 0;
    eachTable(to.db, [&](const NsysTable& table) { rows += to.db.approximateRows(table); });
    to.db.expectRows(rows);
    // A file may claim more rows than it has: such rows take 40 bytes of it at least.
    const auto rowsOf = [&](const char* name) -> std::uint64_t {
        const NsysTable* const table = to.db.find(name);
        return table == nullptr ? 0 : std::min(to.db.approximateRows(*table), to.db.mostRows() / 10);
    };
    to.events.device.reserve(rowsOf("CUPTI_ACTIVITY_KIND_KERNEL"));
    to.events.host.reserve(rowsOf("CUPTI_ACTIVITY_KIND_RUNTIME"));
    bool damaged = false;
    for (const EventTable& table : kEventTables)
        damaged |= !readTolerantly(to, table.tables.front(), table.read);
    if (damaged && to.events.device.empty() && to.events.host.empty())
        throw Error("the file is damaged and no event can be read", to.db.path().string(),
                    "export it again: nsys export --type sqlite REPORT.nsys-rep");
}

/// nsys breaks its sentences into lines.
std::string inOneLine(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
    return text;
}

}  // namespace

void readNsysDiagnostics(NsysEvents& to)
{
    const NsysTable* const table = to.db.find("DIAGNOSTIC_EVENT");
    if (table == nullptr)
        return;
    NsysRows rows(to.db, *table);
    const auto severity = rows.column("severity"), text = rows.column("text");
    std::uint64_t remarks = 0;
    while (rows.next()) {
        const std::int64_t level = rows.integer(severity);  // ENUM_DIAGNOSTIC_SEVERITY_LEVEL: 2 warning, 3 error
        if ((level != 2 && level != 3) || to.events.diagnostics.size() >= kMostSentences) {
            ++remarks;
            continue;
        }
        const std::string sentence = inOneLine(rows.text(text));
        const auto same = std::find_if(to.events.diagnostics.begin(), to.events.diagnostics.end(),
                                       [&](const Diagnostic& d) { return d.text == sentence; });
        if (same != to.events.diagnostics.end()) {
            ++same->count;
            continue;
        }
        // A name of its own for each sentence: in a trace file, those of one name are one.
        const char* const kind = level == 3 ? kNsysError : kNsysWarning;
        to.events.diagnostics.push_back({RunId::none(), fmt::format("{}_{}", kind, to.events.diagnostics.size() + 1),
                                         level == 3 ? Severity::DataLoss : Severity::Info, 1, sentence});
    }
    to.count("nsys_remark", Severity::Info, "remarks of Nsight Systems on its own recording", remarks);
}

bool isNsysDatabase(const std::filesystem::path& path)
{
    const ImportOptions options;
    NsysDatabase db(path, options);
    return isNsys(db);
}

RawEvents readNsys(const std::filesystem::path& path, const ImportOptions& options)
{
    NsysDatabase db(path, options);
    if (!isNsys(db))
        throw Error("is an SQLite file, but no export of Nsight Systems (it lacks the table StringIds)", path.string(),
                    "export a report with: nsys export --type sqlite REPORT.nsys-rep");
    RawEvents events;
    events.source = path.filename().string();
    NsysEvents to(db, events);
    readTolerantly(to, "META_DATA_EXPORT", readVersion);
    readTolerantly(to, "TARGET_INFO_GPU", [](NsysEvents& e) { e.target.read(); });
    readTolerantly(to, "TARGET_INFO_SESSION_START_TIME", readSessionStart);
    readTolerantly(to, "DIAGNOSTIC_EVENT", readNsysDiagnostics);
    readEvents(to);
    countNotShown(to);
    explainEmptyDevice(to);
    to.finish();
    return events;
}

}  // namespace fp8scope::import

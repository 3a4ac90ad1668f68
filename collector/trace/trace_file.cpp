// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/trace_file.h"

#include "collector/trace/schema.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

namespace fp8scope {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyTimeoutMs = 2000;      // a reader waits for another's recovery of the log, not for writers
constexpr int kMaxValueBytes = 64 << 20;  // no honest text or block comes near
constexpr const char* kOpenAnother = "open another file, or record again";

fs::path withSuffix(const fs::path& path, const char* suffix) { return fs::path(path) += suffix; }

/// 0 for a file that is not there.
std::uintmax_t sizeOf(const fs::path& path)
{
    std::error_code ec;
    const std::uintmax_t bytes = fs::file_size(path, ec);
    return ec ? 0 : bytes;
}

bool hasLog(const fs::path& path) { return sizeOf(withSuffix(path, "-wal")) > 0; }

/// Two processes may remove and make the lock file at once: what was locked must still be what stands under the name.
bool standsUnder(int descriptor, const fs::path& path)
{
    struct stat held = {};
    struct stat named = {};
    return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

std::uint32_t bigEndian(const std::array<unsigned char, 100>& header, std::size_t at)
{
    return std::uint32_t{header[at]} << 24 | std::uint32_t{header[at + 1]} << 16 | std::uint32_t{header[at + 2]} << 8 |
           header[at + 3];
}

/// What can be said better by looking than by asking SQLite.
void checkHeader(const fs::path& path)
{
    std::error_code ec;
    const fs::file_status status = fs::status(path, ec);
    if (!fs::exists(status))
        throw Error("there is no such file", path.string(), "check the name");
    if (!fs::is_regular_file(status))
        throw Error("this is not a file", path.string(), "name a .fp8trace file");
    const std::uintmax_t bytes = sizeOf(path);
    if (bytes == 0 && !hasLog(path))
        throw Error("the file is empty", path.string(), kOpenAnother);

    std::ifstream in(path, std::ios::binary);
    std::array<unsigned char, 100> header{};
    in.read(reinterpret_cast<char*>(header.data()), header.size());
    if (!in.is_open())
        throw Error(fmt::format("the file cannot be opened ({})", std::strerror(errno)), path.string(),
                    "check its permissions");
    constexpr std::string_view kMagic("SQLite format 3\0", 16);
    const auto got = static_cast<std::size_t>(in.gcount());
    if (got == 0)
        return;  // all is still in the log
    if (std::memcmp(header.data(), kMagic.data(), std::min(got, kMagic.size())) != 0)
        throw Error("this is not a trace: not a SQLite file", path.string(),
                    "open a .fp8trace file; other profilers' files have to be imported");
    if (got < header.size())
        throw Error("the file is truncated within its first bytes", path.string(), kOpenAnother);
    const std::uint32_t storedPageSize = bigEndian(header, 16) >> 16;
    const std::uint64_t pageSize = storedPageSize == 1 ? 65536 : storedPageSize;
    const std::uint64_t expected = pageSize * bigEndian(header, 28);
    if (bytes < expected && !hasLog(path))
        throw Error(fmt::format("the file is truncated: {} of {} bytes are there", bytes, expected), path.string(),
                    "copy it again from where it was recorded");
}

/// A trace left in log mode on a medium that cannot be written (SQLite would make its index file) is opened as
/// immutable.
SQLite::Database openReadOnly(const fs::path& path)
{
    try {
        SQLite::Database db(path.string(), SQLite::OPEN_READONLY, kBusyTimeoutMs);
        db.exec("SELECT count(*) FROM sqlite_schema");
        return db;
    } catch (const SQLite::Exception& e) {
        if ((e.getErrorCode() & 0xff) != SQLITE_CANTOPEN || hasLog(path))
            throw;
    }
    std::string uri = "file:";
    for (const char c : fs::absolute(path).string())
        uri += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
    return SQLite::Database(uri + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI);
}

/// A file from a stranger: no code of its schema runs, and no value takes all memory.
void defend(SQLite::Database& db)
{
    sqlite3* const handle = db.getHandle();
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
    db.exec("PRAGMA cell_size_check = ON");
    db.exec("PRAGMA query_only = ON");
}

void checkSchema(const fs::path& path, SQLite::Database& db)
{
    if (db.execAndGet("PRAGMA application_id").getInt() != kApplicationId)
        throw Error("this is a SQLite file, but not a trace", path.string(),
                    "open a .fp8trace file; other profilers' files have to be imported");
    const int version = db.execAndGet("PRAGMA user_version").getInt();
    if (version > kSchemaVersion)
        throw Error(fmt::format("the trace has format version {}, this fp8scope reads up to version {}", version,
                                kSchemaVersion),
                    path.string(), "update fp8scope");
    if (version < 1)
        throw Error(fmt::format("the trace has format version {}, which never was", version), path.string(),
                    kOpenAnother);
    SQLite::Statement sqlOf(db, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?");
    for (const SchemaObject& table : schemaTables()) {
        sqlOf.reset();
        sqlOf.bind(1, std::string(table.name));
        const bool there = sqlOf.executeStep();
        if (!there && table.presence == SchemaObject::Presence::Optional)
            continue;
        if (!there || sqlOf.getColumn(0).getString() != table.sql)
            throw Error(fmt::format("table '{}' is missing or is not that of format version {}", table.name, version),
                        path.string(), kOpenAnother);
    }
}

void removeOld(const fs::path& path)
{
    if (fs::exists(path) && !fs::is_regular_file(path))
        throw Error("this is not a file", path.string(), "choose another name");
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
        std::error_code ec;
        fs::remove(fs::path(path) += suffix, ec);
        if (ec)
            throw Error(fmt::format("the old trace cannot be removed ({})", ec.message()), path.string(),
                        "choose another name");
    }
}

/// A new name in a folder survives a power cut only when the folder is synced too.
void syncFolder(const fs::path& path)
{
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        ::fsync(descriptor);
        ::close(descriptor);
    }
}

}  // namespace

WriterLock::WriterLock(const fs::path& trace) : m_path(withSuffix(trace, "-lock"))
{
    for (;;) {
        m_descriptor = ::open(m_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (m_descriptor < 0)
            throw Error(fmt::format("the trace cannot be written ({})", std::strerror(errno)), trace.string(),
                        "choose a folder that exists and may be written");
        const bool locked = ::flock(m_descriptor, LOCK_EX | LOCK_NB) == 0;
        if (locked && standsUnder(m_descriptor, m_path))
            return;
        ::close(m_descriptor);
        if (!locked)
            throw Error("another program is writing this trace", trace.string(),
                        "wait for it to end, or choose another name");
    }
}

WriterLock::~WriterLock()
{
    ::unlink(m_path.c_str());  // while held: whoever opened it meanwhile sees that it no longer stands under the name
    ::close(m_descriptor);
}

Error traceFileError(const fs::path& path, const SQLite::Exception& e, const char* doing)
{
    constexpr const char* kFreeSpace = "free some space; what was flushed before is kept";
    if (e.getExtendedErrorCode() == SQLITE_IOERR_WRITE)
        return Error("the trace cannot grow: a quota or a limit on file sizes was reached, or the disk failed",
                     path.string(), kFreeSpace);
    switch (e.getErrorCode() & 0xff) {
    case SQLITE_FULL: return Error("the disk is full", path.string(), kFreeSpace);
    case SQLITE_NOTADB: return Error("this is not a trace: not a SQLite file", path.string(), kOpenAnother);
    case SQLITE_CORRUPT:
    case SQLITE_TOOBIG:
        return Error(fmt::format("the file is damaged ({})", e.what()), path.string(),
                     "copy it again from where it was recorded, or record again");
    default:
        return Error(fmt::format("the trace cannot {} ({}, SQLite code {})", doing, e.what(), e.getExtendedErrorCode()),
                     path.string(), "check the disk's free space, limits and permissions");
    }
}

SQLite::Database createTraceFile(const fs::path& path)
{
    removeOld(path);
    SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("PRAGMA page_size = 4096");
    db.exec("PRAGMA synchronous = OFF");  // until the tables stand: one sync at the end does for all of them
    db.exec("PRAGMA journal_mode = WAL");
    db.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
    db.exec("PRAGMA secure_delete = OFF");  // merged blocks are no secret, and zeroing them costs a write each
    db.exec("PRAGMA cache_size = -16384");
    db.exec("PRAGMA wal_autocheckpoint = 4000");
    SQLite::Transaction transaction(db);
    for (const SchemaObject& table : schemaTables())
        db.exec(std::string(table.sql));
    for (const SchemaObject& view : schemaViews())
        db.exec(std::string(view.sql));
    db.exec("INSERT INTO meta VALUES('complete', '0')");
    db.exec(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
    transaction.commit();
    db.exec("PRAGMA synchronous = FULL");
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    syncFolder(path);
    return db;
}

SQLite::Database openTraceFile(const fs::path& path)
{
    checkHeader(path);
    try {
        SQLite::Database db = openReadOnly(path);
        defend(db);
        checkSchema(path, db);
        return db;
    } catch (const SQLite::Exception& e) {
        throw traceFileError(path, e, "be read");
    }
}

}  // namespace fp8scope

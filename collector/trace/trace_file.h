// SPDX-License-Identifier: Apache-2.0
// A trace as a file on disk: the lock that makes its writer the only one, and the checks before anything of it is
// believed.
#pragma once

#include "collector/trace/error.h"

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace fp8scope {

/// Holds `<trace>-lock` while alive; the kernel drops the lock with the process, whatever ends it. A file of its own,
/// because closing any descriptor of the database would drop the locks that SQLite holds on it.
class WriterLock {
public:
    /// Throws Error if another writer, of this or any process, holds it, or it cannot be made.
    explicit WriterLock(const std::filesystem::path& trace);
    ~WriterLock();
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

private:
    std::filesystem::path m_path;
    int m_descriptor = -1;
};

/// Makes an empty trace, in the log mode that lets readers in and keeps finished batches, in the place of whatever
/// trace stands there. The caller holds the lock. Throws Error or SQLite::Exception.
[[nodiscard]] SQLite::Database createTraceFile(const std::filesystem::path&);

/// Opens a trace read-only and defensively, and throws Error unless it is a whole trace of this version with the
/// version's very tables. What a writer is adding meanwhile is seen as of its last flush.
[[nodiscard]] SQLite::Database openTraceFile(const std::filesystem::path&);

/// An Error from what SQLite said while `doing` ("be read", "be written").
[[nodiscard]] Error traceFileError(const std::filesystem::path&, const SQLite::Exception&, const char* doing);

}  // namespace fp8scope

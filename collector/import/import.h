// SPDX-License-Identifier: Apache-2.0
// Other tools' files as a Trace: PyTorch profiler JSON, Chrome trace JSON, Nsight Systems SQLite, archives and folders.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace fp8scope::import {

/// What a file is, by its content and not by its name.
enum class FileKind : std::uint8_t {
    Fp8scopeTrace,
    KinetoJson,  ///< PyTorch profiler, any generation
    ChromeJson,  ///< any other Trace Event JSON
    NsysSqlite,
    NsysReport,  ///< .nsys-rep, .qdrep: read by Nsight Systems' own `nsys export` only
    TarArchive,  ///< of ranks
    Folder,
    Neighbour,  ///< looks like a trace and is none that can be opened
    Unknown,
};

struct Recognized {
    FileKind kind = FileKind::Unknown;
    bool gzip = false;
    std::string what;  ///< "a PyTorch execution trace", in words; of every kind
    std::string mend;  ///< what the user can do, of kinds that do not open
    [[nodiscard]] bool opens() const { return kind < FileKind::Neighbour; }
};

/// Reads no more than the head of the file (of an archive: its member names). Throws Error if it cannot be read.
[[nodiscard]] Recognized recognize(const std::filesystem::path&);

struct ImportProgress {
    std::string stage;       ///< "reading", "attributing", ...
    std::uint64_t done = 0;  ///< bytes or rows
    std::uint64_t total = 0;
};

struct ImportOptions {
    std::function<void(const ImportProgress&)> onProgress;  ///< from the importing thread, at least every 50 ms of work
    std::stop_token stop;
    unsigned threads = 0;  ///< 0: as many as cores
};

/// Thrown when ImportOptions::stop was requested.
struct ImportCancelled {};

/// Imports one file, or the ranks of one job from several files, a folder or an archive. Every rank is a run of the
/// trace, its mode "rank 3" (of a single rank: the file's name), origin Imported, its clock aligned with the others'.
/// What the files say and the importer does not understand is in Trace::diagnostics. Throws Error, naming file, place
/// and mend. Never crashes on a hostile file; memory is bounded (resources/help/import.md).
[[nodiscard]] Trace importFiles(std::span<const std::filesystem::path>, const ImportOptions& = {});

}  // namespace fp8scope::import

// SPDX-License-Identifier: Apache-2.0
// Files, folders and archives to one trace.
#include "collector/import/import.h"

#include "collector/import/assemble.h"
#include "collector/import/content.h"
#include "collector/import/kineto_reader.h"
#include "collector/import/nsys_export.h"
#include "collector/import/nsys_reader.h"
#include "collector/import/ranks.h"
#include "collector/import/scratch_folder.h"
#include "collector/import/tar_reader.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <vector>

namespace fp8scope::import {
namespace {

constexpr int kMostDepth = 4;
constexpr std::size_t kMostSkippedNamed = 20;

std::uint64_t sizeOf(const std::filesystem::path& path)
{
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
}

class Importer {
public:
    explicit Importer(const ImportOptions& options) : m_options(options), m_inner(options)
    {
        if (options.onProgress) {
            m_inner.onProgress = [this](const ImportProgress& p) {
                m_options.onProgress({p.stage, m_doneBytes + p.done, std::max(m_totalBytes, m_doneBytes + p.total)});
            };
        }
    }

    Trace run(std::span<const std::filesystem::path> paths)
    {
        std::vector<std::filesystem::path> files;
        for (const std::filesystem::path& path : paths) {
            if (std::filesystem::is_directory(path))
                listFolder(path, files);
            else
                files.push_back(path);
        }
        for (const std::filesystem::path& file : files)
            m_totalBytes += sizeOf(file);
        const bool chosen = files.size() == paths.size();
        for (const std::filesystem::path& file : files) {
            importFile(file, chosen);
            m_doneBytes += sizeOf(file);
        }
        if (m_ranks.empty())
            throw Error("nothing in it can be opened", paths.empty() ? std::string() : paths.front().string(),
                        m_skipped.empty() ? "name a trace" : m_skipped.front());
        Trace trace = joinRanks(std::move(m_ranks));
        nameSkipped(trace);
        return trace;
    }

private:
    void listFolder(const std::filesystem::path& folder, std::vector<std::filesystem::path>& files)
    {
        const std::size_t first = files.size();
        std::filesystem::recursive_directory_iterator entry(folder,
                                                            std::filesystem::directory_options::skip_permission_denied);
        for (; entry != std::filesystem::recursive_directory_iterator(); ++entry) {
            if (entry.depth() >= kMostDepth)
                entry.disable_recursion_pending();
            if (entry->is_regular_file() && !isHiddenMember(entry->path().filename().string()))
                files.push_back(entry->path());
        }
        std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
    }

    /// `chosen`: named by the user, so that what does not open is an error.
    void importFile(const std::filesystem::path& file, bool chosen)
    {
        const Recognized found = recognize(file);
        switch (found.kind) {
        case FileKind::KinetoJson:
        case FileKind::ChromeJson: {
            const std::unique_ptr<ByteSource> source = openMaybeGzip(file);
            return add(readKineto(*source, file.string(), m_inner));
        }
        case FileKind::NsysSqlite: return add(readNsys(file, m_inner));
        case FileKind::NsysReport: return importReport(file);
        case FileKind::TarArchive: return importArchive(file);
        default: break;
        }
        const std::string mend =
            found.kind == FileKind::Fp8scopeTrace ? "it opens by itself, not together with other files" : found.mend;
        if (chosen)
            throw Error("is " + found.what, file.string(), mend);
        skip(file.filename().string(), found.what, mend);
    }

    void importReport(const std::filesystem::path& file)
    {
        progress("exporting with nsys");
        const ScratchFolder folder;
        add(readNsys(exportNsysReport(file, folder.path(), m_options.stop), m_inner));
        m_ranks.back().file = file.filename().string();
    }

    void importArchive(const std::filesystem::path& file)
    {
        // What a member is takes its beginning, and streams do not rewind: one pass to recognize, one to read.
        const std::vector<Recognized> kinds = recognizeMembers(file);
        const std::unique_ptr<ByteSource> source = openMaybeGzip(file);
        TarReader tar(*source, file.string());
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const std::optional<TarMember> member = tar.next();
            if (!member)
                break;
            if (!member->isFile)
                continue;
            const std::string name = member->name.substr(member->name.rfind('/') + 1);
            importMember(name, kinds[i], tar);
        }
    }

    std::vector<Recognized> recognizeMembers(const std::filesystem::path& file) const
    {
        const std::unique_ptr<ByteSource> source = openMaybeGzip(file);
        TarReader tar(*source, file.string());
        std::vector<Recognized> kinds;
        while (const std::optional<TarMember> member = tar.next()) {
            if (m_options.stop.stop_requested())
                throw ImportCancelled{};
            Recognized& kind = kinds.emplace_back();
            if (!member->isFile)
                continue;
            if (isHiddenMember(member->name)) {
                kind = {FileKind::Neighbour, false, "a file of the operating system", "it holds no trace"};
                continue;
            }
            bool gzip = false;
            kind = recognizeContent(*unpacked(tar.content(), member->name, gzip));
            kind.gzip = gzip;
        }
        return kinds;
    }

    void importMember(const std::string& name, const Recognized& kind, TarReader& tar)
    {
        if (kind.kind == FileKind::KinetoJson || kind.kind == FileKind::ChromeJson) {
            bool gzip = false;
            const std::unique_ptr<ByteSource> content = unpacked(tar.content(), name, gzip);
            return add(readKineto(*content, name, m_inner));
        }
        if (kind.what != kSqliteFile || kind.gzip)
            return skip(name, kind.what, kind.mend.empty() ? "unpack the archive and open it by itself" : kind.mend);
        const ScratchFolder folder;
        const std::filesystem::path copy = folder.path() / name;
        folder.write(name, *tar.content(), m_options.stop);
        if (!isNsysDatabase(copy))
            return skip(name, "an SQLite file that is no export of Nsight Systems", "it holds no trace");
        add(readNsys(copy, m_inner));
    }

    void add(RawEvents raw)
    {
        ImportedRank rank;
        rank.file = std::filesystem::path(raw.source).filename().string();
        rank.epochWallNs = raw.epochWallNs;
        rank.collectives = collectiveEnds(raw);
        for (const Process& process : raw.processes)
            rank.rank = std::max(rank.rank, process.rank);
        if (rank.rank < 0)
            rank.rank = rankInName(rank.file);
        progress("attributing");
        rank.trace = assemble(std::move(raw));
        markUnfinished(rank.trace);
        m_ranks.push_back(std::move(rank));
    }

    static void markUnfinished(Trace& trace)
    {
        const auto early = std::find_if(trace.diagnostics.begin(), trace.diagnostics.end(), [](const Diagnostic& d) {
            return d.name == "unfinished_file" || d.name == "damaged_file";
        });
        if (early == trace.diagnostics.end())
            return;
        for (Run& run : trace.runs) {
            run.complete = false;
            run.note = early->text;
        }
    }

    void skip(const std::string& name, const std::string& what, const std::string& mend)
    {
        m_skipped.push_back(fmt::format("{} is {}; {}", name, what, mend));
    }

    void nameSkipped(Trace& trace) const
    {
        for (std::size_t i = 0; i < std::min(m_skipped.size(), kMostSkippedNamed); ++i)
            trace.diagnostics.push_back({.name = "skipped_file", .count = 1, .text = m_skipped[i]});
        if (m_skipped.size() > kMostSkippedNamed)
            trace.diagnostics.push_back({.name = "skipped_file",
                                         .count = m_skipped.size() - kMostSkippedNamed,
                                         .text = "other files that hold no trace were passed over"});
    }

    void progress(const char* stage) const
    {
        if (m_options.stop.stop_requested())
            throw ImportCancelled{};
        if (m_inner.onProgress)
            m_inner.onProgress({stage, 0, 0});
    }

    const ImportOptions& m_options;
    ImportOptions m_inner;
    std::uint64_t m_doneBytes = 0, m_totalBytes = 0;
    std::vector<ImportedRank> m_ranks;
    std::vector<std::string> m_skipped;
};

}  // namespace

Trace importFiles(std::span<const std::filesystem::path> paths, const ImportOptions& options)
{
    return Importer(options).run(paths);
}

}  // namespace fp8scope::import

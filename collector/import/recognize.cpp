// SPDX-License-Identifier: Apache-2.0
#include "collector/import/content.h"
#include "collector/import/kineto_categories.h"
#include "collector/import/kineto_head.h"
#include "collector/import/nsys_reader.h"
#include "collector/import/tar_reader.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace fp8scope::import {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kHead = std::size_t{64} << 10;
constexpr std::uint64_t kMostBeforeEvents = std::uint64_t{256} << 20;  ///< of other members, before traceEvents
constexpr std::size_t kLeastBytes = 16;

bool isOwnTrace(std::string_view sqlite)
{
    // SQLite keeps the application's id at offset 68, big endian: "FP8T".
    return sqlite.size() >= 72 && sqlite.substr(68, 4) == "FP8T"sv;
}

/// Categories that only PyTorch's profiler writes, among the first events.
bool namesKinetoCategory(std::string_view events)
{
    for (std::size_t at = events.find("\"cat\""); at != std::string_view::npos; at = events.find("\"cat\"", at + 5)) {
        const std::size_t begin = events.find('"', at + 5);
        const std::size_t end = begin == std::string_view::npos ? begin : events.find('"', begin + 1);
        if (end == std::string_view::npos)
            return false;
        if (spanKindOf(events.substr(begin + 1, end - begin - 1)) != SpanKind::Unknown)
            return true;
    }
    return false;
}

Recognized kineto() { return {FileKind::KinetoJson, false, "a trace of PyTorch's profiler", {}}; }
Recognized chrome() { return {FileKind::ChromeJson, false, "a Chrome trace (JSON)", {}}; }

/// A bare array: of events, of an older writer, or of something else.
Recognized recognizeArray(std::string_view events)
{
    const std::size_t first = std::min(events.find_first_not_of(" \n\r\t"), events.size());
    const std::string_view text = events.substr(first);
    if (text.starts_with('['))
        return {FileKind::Neighbour, false, "a memory timeline of PyTorch",
                "open the trace that torch.profiler's export_chrome_trace() wrote in the same run"};
    if (text.find("\"ph\"") == std::string_view::npos)
        return {FileKind::Unknown, false, "a JSON array that holds no trace events",
                "open the trace that torch.profiler's export_chrome_trace() wrote"};
    return namesKinetoCategory(text) ? kineto() : chrome();
}

Recognized recognizeJson(std::string head, ByteSource& source)
{
    KinetoHead members;
    TopLevel top(members);
    for (std::uint64_t seen = 0;; seen += head.size()) {
        const std::size_t used = top.feed(head);
        if (top.inEvents()) {
            std::string events = head.substr(used);
            std::string more(kHead, '\0');
            more.resize(source.read(more));
            events += more;
            if (top.first() == '[')
                return recognizeArray(events);
            return members.kineto || namesKinetoCategory(events) ? kineto() : chrome();
        }
        Recognized neighbour = recognizeJsonNeighbour(members.keys);
        const std::size_t n = head.size() < kHead || top.done() ? 0 : source.read(head);
        if (neighbour.kind == FileKind::Neighbour || n == 0 || seen > kMostBeforeEvents)
            return neighbour;
        head.resize(n);
    }
}

/// SQLite of our own was told before.
Recognized recognizeSqlite(const std::filesystem::path& path)
{
    if (isNsysDatabase(path))
        return {FileKind::NsysSqlite, false, "an SQLite export of Nsight Systems", {}};
    return {FileKind::Neighbour, false, "an SQLite file that is no export of Nsight Systems",
            "export the report with `nsys export --type sqlite REPORT.nsys-rep`"};
}

std::string describeArchive(const std::filesystem::path& path)
{
    const std::unique_ptr<ByteSource> source = openMaybeGzip(path);
    TarReader tar(*source, path.string());
    std::size_t files = 0;
    while (const std::optional<TarMember> member = tar.next())
        files += member->isFile && !isHiddenMember(member->name) ? 1 : 0;
    return fmt::format("a tar archive of {} file{}", files, files == 1 ? "" : "s");
}

}  // namespace

Recognized recognizeContent(ByteSource& source)
{
    std::string head(kHead, '\0');
    head.resize(source.read(head));
    const std::string_view text = head;
    const std::size_t first = text.find_first_not_of("\xef\xbb\xbf \n\r\t");
    if (first == std::string_view::npos)
        return {FileKind::Unknown, false, "an empty file", "copy or record it again"};
    if (text.starts_with("SQLite format 3\0"sv))
        return isOwnTrace(text) ? Recognized{FileKind::Fp8scopeTrace, false, "a trace of fp8scope", {}}
                                : Recognized{FileKind::Unknown, false, kSqliteFile, {}};
    if (text.starts_with("NVIDIA Tegra Profiler Report"))
        return {FileKind::NsysReport, false, "a report of Nsight Systems (.nsys-rep)", {}};
    if (isTar(text))
        return {FileKind::TarArchive, false, "a tar archive", {}};
    if (text[first] == '{' || text[first] == '[')
        return recognizeJson(std::move(head), source);
    Recognized neighbour = recognizeNeighbour(text);
    if (neighbour.kind == FileKind::Unknown && text.size() < kLeastBytes)
        return {FileKind::Unknown, false, "too short to be a trace", "copy or record it again"};
    if (neighbour.what.empty())
        return {FileKind::Unknown, false, "no kind of file that fp8scope knows",
                "see `fp8scope import --help` for what can be opened"};
    return neighbour;
}

Recognized recognize(const std::filesystem::path& path)
{
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
        throw Error("no such file", path.string(), "check the path");
    if (std::filesystem::is_directory(status))
        return {FileKind::Folder, false, "a folder", {}};
    if (!std::filesystem::is_regular_file(status) && !std::filesystem::is_fifo(status))
        throw Error("is no file", path.string(), "name a trace");
    const std::unique_ptr<ByteSource> packed = openFile(path);
    std::string magic(2, '\0');
    magic.resize(packed->read(magic));
    const std::unique_ptr<ByteSource> source = openMaybeGzip(path);
    Recognized found = recognizeContent(*source);
    found.gzip = isGzip(magic);
    if (found.what == kSqliteFile && !found.gzip)
        return recognizeSqlite(path);
    const bool onDiskOnly =
        found.kind == FileKind::Fp8scopeTrace || found.kind == FileKind::NsysReport || found.what == kSqliteFile;
    if (found.gzip && onDiskOnly)
        return {FileKind::Neighbour, true, "gzip of " + found.what, "decompress it with `gunzip`"};
    if (found.kind == FileKind::TarArchive)
        found.what = describeArchive(path);
    return found;
}

}  // namespace fp8scope::import

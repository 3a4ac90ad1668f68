// SPDX-License-Identifier: Apache-2.0
#include "collector/import/kineto_oddities.h"

#include <fmt/format.h>

#include <algorithm>

namespace fp8scope::import {
namespace {

constexpr char kAbout = '\x1f';         ///< between an oddity and what it is about
constexpr std::size_t kMostAbout = 64;  ///< a hostile file could name a category an event

struct Words {
    std::string_view oddity;
    Severity severity;
    std::string_view text;  ///< {}: what it is about
};

constexpr Words kWords[] = {
    {kUnknownCategory, Severity::Info, "events of the unknown category '{}' are shown as ranges"},
    {kUnknownPhase, Severity::DataLoss, "events of the unknown phase '{}' were left out"},
    {kUnknownFlow, Severity::Info, "arrows of the category '{}' are not shown"},
    {kNoTime, Severity::DataLoss, "events without a time, or one decades off, were left out"},
    {kNegativeDuration, Severity::Info, "negative durations were set to 0"},
    {kProfilerMark, Severity::Info, "the profiler's own marks and spans are not shown"},
    {kMended, Severity::Info, "events were no valid JSON (a known fault of their writers) and were mended"},
    {kUnreadable, Severity::DataLoss, "events could not be read and were left out"},
    {kNotAnEvent, Severity::Info, "entries of traceEvents that are no events were passed over"},
    {kEndWithoutBegin, Severity::DataLoss, "ends of ranges whose begin is not in the file were left out"},
    {kBeginWithoutEnd, Severity::Info, "ranges whose end is not in the file end with their track"},
    {kLooseFlow, Severity::Info, "arrows that touch nothing were left out"},
    {kBadCounter, Severity::DataLoss, "counter values that are no numbers were left out"},
};

}  // namespace

void countOddity(OddityCounts& counts, std::string_view oddity, std::string_view about, std::uint64_t n)
{
    std::string key(oddity);
    if (!about.empty()) {
        key += kAbout;
        key += counts.size() < kMostAbout ? about.substr(0, 80) : std::string_view("(others)");
    }
    counts[std::move(key)] += n;
}

std::vector<Diagnostic> toDiagnostics(const OddityCounts& counts)
{
    std::vector<Diagnostic> diagnostics;
    for (const auto& [key, count] : counts) {
        const std::size_t cut = key.find(kAbout);
        const std::string_view oddity = std::string_view(key).substr(0, cut);
        const std::string about = cut == std::string::npos ? std::string() : key.substr(cut + 1);
        const auto words =
            std::find_if(std::begin(kWords), std::end(kWords), [&](const Words& w) { return w.oddity == oddity; });
        if (words == std::end(kWords))
            continue;
        diagnostics.push_back({.name = std::string(oddity),
                               .severity = words->severity,
                               .count = count,
                               .text = fmt::format(fmt::runtime(words->text), about)});
    }
    return diagnostics;
}

}  // namespace fp8scope::import

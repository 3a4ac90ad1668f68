// SPDX-License-Identifier: Apache-2.0
// What the reader of PyTorch traces counts instead of throwing. A count is kept under an oddity, or an oddity and what
// it is about ("unknown_category" about "foo").
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::import {

inline constexpr std::string_view kUnknownCategory = "unknown_category";
inline constexpr std::string_view kUnknownPhase = "unknown_phase";
inline constexpr std::string_view kUnknownFlow = "unknown_flow";
inline constexpr std::string_view kNoTime = "event_without_time";
inline constexpr std::string_view kNegativeDuration = "negative_duration";
inline constexpr std::string_view kProfilerMark = "profiler_mark";
inline constexpr std::string_view kMended = "mended_json";
inline constexpr std::string_view kUnreadable = "unreadable_event";
inline constexpr std::string_view kNotAnEvent = "not_an_event";
inline constexpr std::string_view kEndWithoutBegin = "end_without_begin";
inline constexpr std::string_view kBeginWithoutEnd = "begin_without_end";
inline constexpr std::string_view kLooseFlow = "loose_flow";
inline constexpr std::string_view kBadCounter = "unreadable_counter";

using OddityCounts = std::map<std::string, std::uint64_t, std::less<>>;

void countOddity(OddityCounts&, std::string_view oddity, std::string_view about = {}, std::uint64_t n = 1);
[[nodiscard]] std::vector<Diagnostic> toDiagnostics(const OddityCounts&);

}  // namespace fp8scope::import

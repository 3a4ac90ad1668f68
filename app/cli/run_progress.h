// SPDX-License-Identifier: Apache-2.0
// Progress of a run on standard error: a bar on a terminal, plain lines elsewhere, JSON lines for the app.
#pragma once

#include "app/session/session.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace fp8scope::cli {

enum class ProgressStyle : std::uint8_t { Auto, Bar, Plain, JsonLines, None };
[[nodiscard]] const std::map<std::string, ProgressStyle>& progressStyles();

/// One line for one state of a run: "fp8  [######----]  12/20  loss 0.0412  63.1 ms a step  8 s left", at most `width`
/// columns.
[[nodiscard]] std::string progressLine(const session::RunProgress& progress, std::size_t width);

/// JSON lines on standard output:
/// {"event":"step","mode","mode_index","mode_count","repeat","repeats","step","steps","loss","step_ns","seconds_left"},
/// last
/// {"event":"end","complete","cancelled","message","file"}. The other styles write to standard error.
class ProgressPrinter {
public:
    explicit ProgressPrinter(ProgressStyle style);
    void show(const session::RunProgress& progress);
    void finish(const session::RunOutcome& outcome, const std::filesystem::path& file);
    /// False for JSON: then nothing but events may be printed.
    [[nodiscard]] bool forPeople() const { return m_style != ProgressStyle::JsonLines; }

private:
    ProgressStyle m_style;
    std::string m_label;  ///< of the run shown last
    bool m_lineOpen = false;
    std::chrono::steady_clock::time_point m_lastShown;
};

}  // namespace fp8scope::cli

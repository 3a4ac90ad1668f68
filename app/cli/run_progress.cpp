// SPDX-License-Identifier: Apache-2.0
#include "app/cli/run_progress.h"

#include "app/analysis/overview.h"
#include "app/cli/output.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace fp8scope::cli {
namespace {

constexpr auto kBarInterval = std::chrono::milliseconds(100);
constexpr auto kPlainInterval = std::chrono::seconds(2);

std::size_t terminalWidth()
{
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return std::min<std::size_t>(size.ws_col, kWidth);
    return 80;
}

std::string timeLeft(double seconds)
{
    if (seconds < 0)
        return "";
    const auto whole = static_cast<long>(std::lround(seconds));
    return whole < 120 ? fmt::format("  {} s left", whole) : fmt::format("  {} min left", (whole + 30) / 60);
}

std::string stateText(const session::RunProgress& p)
{
    if (p.step == 0)
        return fmt::format("{}/{}  preparing", p.step, p.steps);
    return fmt::format("{}/{}  loss {:.4g}  {} a step{}", p.step, p.steps, p.loss, analysis::formatTime(p.stepNs),
                       timeLeft(p.secondsLeft));
}

void printEvent(const Json& event)
{
    print(event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    std::fflush(stdout);
}

}  // namespace

const std::map<std::string, ProgressStyle>& progressStyles()
{
    static const std::map<std::string, ProgressStyle> styles{{"auto", ProgressStyle::Auto},
                                                             {"bar", ProgressStyle::Bar},
                                                             {"plain", ProgressStyle::Plain},
                                                             {"json", ProgressStyle::JsonLines},
                                                             {"none", ProgressStyle::None}};
    return styles;
}

std::string progressLine(const session::RunProgress& p, std::size_t width)
{
    const std::string head = fmt::format("{:<10}", p.mode);
    const std::string tail = stateText(p);
    const std::size_t fixed = head.size() + displayWidth(tail) + 5;
    if (fixed + 8 > width)
        return head + tail;
    const std::size_t cells = std::min<std::size_t>(width - fixed, 30);
    const std::size_t full =
        p.steps > 0 ? cells * static_cast<std::size_t>(p.step) / static_cast<std::size_t>(p.steps) : 0;
    return fmt::format("{}[{}{}]  {}", head, std::string(full, '#'), std::string(cells - full, '-'), tail);
}

ProgressPrinter::ProgressPrinter(ProgressStyle style) : m_style(style)
{
    if (m_style == ProgressStyle::Auto)
        m_style = isatty(STDERR_FILENO) != 0 ? ProgressStyle::Bar : ProgressStyle::Plain;
}

void ProgressPrinter::show(const session::RunProgress& p)
{
    if (m_style == ProgressStyle::None)
        return;
    if (m_style == ProgressStyle::JsonLines) {
        printEvent({{"event", "step"},
                    {"mode", p.mode},
                    {"mode_index", p.modeIndex},
                    {"mode_count", p.modeCount},
                    {"step", p.step},
                    {"steps", p.steps},
                    {"loss", std::isfinite(p.loss) ? Json(p.loss) : Json()},
                    {"step_ns", p.stepNs},
                    {"seconds_left", p.secondsLeft >= 0 ? Json(p.secondsLeft) : Json()}});
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    const bool bar = m_style == ProgressStyle::Bar;
    const bool due = p.mode != m_mode || p.step == p.steps ||
                     now - m_lastShown >= (bar ? std::chrono::milliseconds(kBarInterval)
                                               : std::chrono::duration_cast<std::chrono::milliseconds>(kPlainInterval));
    if (!due)
        return;
    if (bar && m_lineOpen && p.mode != m_mode)
        fmt::print(stderr, "\n");
    m_mode = p.mode;
    m_lastShown = now;
    if (bar)
        fmt::print(stderr, "\r\x1b[K{}", progressLine(p, terminalWidth()));
    else
        fmt::print(stderr, "{:<10}{}\n", p.mode, stateText(p));
    m_lineOpen = bar;
    std::fflush(stderr);
}

void ProgressPrinter::finish(const session::RunOutcome& outcome, const std::filesystem::path& file)
{
    if (m_lineOpen)
        fmt::print(stderr, "\n");
    m_lineOpen = false;
    if (m_style == ProgressStyle::JsonLines) {
        printEvent({{"event", "end"},
                    {"complete", outcome.complete},
                    {"cancelled", outcome.cancelled},
                    {"message", outcome.message},
                    {"file", file.string()},
                    {"steps", outcome.stepsRecorded},
                    {"slices", outcome.slices}});
    }
}

}  // namespace fp8scope::cli

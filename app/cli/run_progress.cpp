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

/// "fp8", "fp8 2/3", "fp8+…+cast_chain 2/3": as short as tells one from the others.
std::string runLabel(const session::RunProgress& p)
{
    constexpr std::size_t kLongest = 24;
    std::string label = p.mode;
    if (label.size() > kLongest && label.find('+') != label.rfind('+'))
        label = label.substr(0, label.find('+') + 1) + "…" + label.substr(label.rfind('+'));
    if (p.repeats > 1)
        label += fmt::format(" {}/{}", p.repeat + 1, p.repeats);
    return label;
}

std::string padded(std::string label)
{
    const std::size_t width = displayWidth(label);
    return label + std::string(width < 10 ? 10 - width : 1, ' ');
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
    const std::string head = padded(runLabel(p));
    const std::string tail = stateText(p);
    const std::size_t fixed = displayWidth(head) + displayWidth(tail) + 5;
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
                    {"repeat", p.repeat},
                    {"repeats", p.repeats},
                    {"step", p.step},
                    {"steps", p.steps},
                    {"loss", std::isfinite(p.loss) ? Json(p.loss) : Json()},
                    {"step_ns", p.stepNs},
                    {"seconds_left", p.secondsLeft >= 0 ? Json(p.secondsLeft) : Json()}});
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    const bool bar = m_style == ProgressStyle::Bar;
    const std::string label = runLabel(p);
    const bool due = label != m_label || p.step == p.steps ||
                     now - m_lastShown >= (bar ? std::chrono::milliseconds(kBarInterval)
                                               : std::chrono::duration_cast<std::chrono::milliseconds>(kPlainInterval));
    if (!due)
        return;
    if (bar && m_lineOpen && label != m_label)
        fmt::print(stderr, "\n");
    m_label = label;
    m_lastShown = now;
    if (bar)
        fmt::print(stderr, "\r\x1b[K{}", progressLine(p, terminalWidth()));
    else
        fmt::print(stderr, "{}{}\n", padded(label), stateText(p));
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

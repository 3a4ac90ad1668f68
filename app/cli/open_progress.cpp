// SPDX-License-Identifier: Apache-2.0
#include "app/cli/open_progress.h"

#include "app/cli/interrupt_stop.h"
#include "app/open/open_trace.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <unistd.h>

namespace fp8scope::cli {
namespace {

constexpr auto kMoment = std::chrono::milliseconds(400);
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr std::size_t kCells = 30;

class Line {
public:
    void show(const LoadProgress& progress)
    {
        const auto now = std::chrono::steady_clock::now();
        if (now - m_begin < kMoment || now - m_shown < kInterval)
            return;
        m_shown = now;
        fmt::print(stderr, "\r\033[K{}", openProgressLine(progress.stage, progress.done, progress.total));
        std::fflush(stderr);
        m_open = true;
    }
    ~Line()
    {
        if (m_open)
            std::fputs("\r\033[K", stderr);
    }

private:
    std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now(), m_shown;
    bool m_open = false;
};

}  // namespace

std::string openProgressLine(std::string_view stage, std::uint64_t done, std::uint64_t total)
{
    const bool bytes = stage == "reading" && total > 0;
    if (!bytes)
        return std::string(stage);
    constexpr double kMegabyte = 1e6;
    const auto full = static_cast<std::size_t>(static_cast<double>(kCells) *
                                               static_cast<double>(std::min(done, total)) / static_cast<double>(total));
    return fmt::format("{}  [{}{}]  {:.0f} of {:.0f} MB", stage, std::string(full, '#'),
                       std::string(kCells - full, '-'), static_cast<double>(done) / kMegabyte,
                       static_cast<double>(total) / kMegabyte);
}

Trace openWithProgress(std::span<const std::filesystem::path> files, const std::vector<std::filesystem::path>& rules)
{
    open::OpenOptions options;
    options.rules = rules;
    if (isatty(STDERR_FILENO) == 0)
        return open::openTrace(files, options);
    Line line;
    InterruptStop interrupt;
    options.stop = interrupt.token();
    options.onProgress = [&](const LoadProgress& progress) { line.show(progress); };
    try {
        return open::openTrace(files, options);
    } catch (const LoadCancelled&) {
        throw Error("stopped", files.empty() ? std::string() : files.front().string(), "");
    }
}

Trace openWithProgress(const std::filesystem::path& file, const std::vector<std::filesystem::path>& rules)
{
    return openWithProgress(std::span(&file, 1), rules);
}

}  // namespace fp8scope::cli

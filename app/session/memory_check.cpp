// SPDX-License-Identifier: Apache-2.0
#include "app/session/memory_check.h"

#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

namespace fp8scope::session {

namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kProgramBytes = std::uint64_t{64} << 20;  // the program, its libraries, oneDNN's primitives

std::uint64_t elements(const plan::MatrixLayout& matrix)
{
    return static_cast<std::uint64_t>(matrix.rows * matrix.cols);
}

std::optional<std::uint64_t> numberIn(const std::filesystem::path& file)
{
    std::ifstream stream(file);
    std::uint64_t number = 0;
    if (stream >> number)
        return number;
    return std::nullopt;  // missing, or "max"
}

std::uint64_t memAvailable(const std::filesystem::path& root)
{
    std::ifstream meminfo(root / "proc/meminfo");
    for (std::string line; std::getline(meminfo, line);) {
        std::istringstream words(line);
        std::string key;
        std::uint64_t kib = 0;
        if (words >> key >> kib && key == "MemAvailable:")
            return kib * 1024;
    }
    return kUnlimited;
}

/// Page cache that the kernel drops before it lets a group run into its limit.
std::uint64_t reclaimable(const std::filesystem::path& group)
{
    std::ifstream statistics(group / "memory.stat");
    std::string key;
    std::uint64_t value = 0;
    while (statistics >> key >> value)
        if (key == "inactive_file" || key == "total_inactive_file")
            return value;
    return 0;
}

std::uint64_t leftIn(const std::filesystem::path& group, const char* limitFile, const char* usageFile)
{
    const auto limit = numberIn(group / limitFile);
    const auto usage = numberIn(group / usageFile);
    if (!limit || !usage)
        return kUnlimited;
    const std::uint64_t used = *usage - std::min(*usage, reclaimable(group));
    return *limit - std::min(*limit, used);
}

/// The least that any of a group and the groups around it leaves.
std::uint64_t leftInTree(const std::filesystem::path& mount, std::string group, const char* limitFile,
                         const char* usageFile)
{
    std::uint64_t left = leftIn(mount, limitFile, usageFile);
    for (; group.size() > 1; group.erase(group.rfind('/')))
        left = std::min(left, leftIn(mount / group.substr(1), limitFile, usageFile));
    return left;
}

/// /proc/self/cgroup has a line "0::/path" for version 2 and "N:memory:/path" for version 1.
std::uint64_t cgroupAvailable(const std::filesystem::path& root)
{
    std::ifstream groups(root / "proc/self/cgroup");
    std::uint64_t left = kUnlimited;
    for (std::string line; std::getline(groups, line);) {
        const std::size_t controllers = line.find(':');
        const std::size_t path = controllers == std::string::npos ? controllers : line.find(':', controllers + 1);
        if (path == std::string::npos)
            continue;
        const std::string names = line.substr(controllers + 1, path - controllers - 1);
        if (names.empty())
            left = std::min(left,
                            leftInTree(root / "sys/fs/cgroup", line.substr(path + 1), "memory.max", "memory.current"));
        else if (names == "memory")
            left = std::min(left, leftInTree(root / "sys/fs/cgroup/memory", line.substr(path + 1),
                                             "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
    return left;
}

std::string inGigabytes(std::uint64_t bytes) { return fmt::format("{:.2f} GB", static_cast<double>(bytes) / 1e9); }

}  // namespace

std::uint64_t bytesNeeded(const plan::StepPlan& plan)
{
    std::uint64_t dataSet = plan.tensor(plan.input).bytes() + plan.tensor(plan.target).bytes();
    dataSet *= static_cast<std::uint64_t>(plan.config.datasetBatches);
    std::uint64_t operands = 0;
    for (const plan::Op& op : plan.ops)
        if (op.gemm)
            operands = std::max(operands, elements(op.gemm->a) + elements(op.gemm->b) + elements(op.gemm->d));
    return plan.arenaBytes + dataSet + operands * sizeof(float) + kProgramBytes;
}

std::uint64_t availableMemory(const std::filesystem::path& root)
{
    return std::min(memAvailable(root), cgroupAvailable(root));
}

void requireMemory(const plan::StepPlan& plan, std::uint64_t available)
{
    const std::uint64_t needed = bytesNeeded(plan);
    if (needed <= available)
        return;
    throw Error(fmt::format("the {} run needs {} bytes ({}), {} bytes ({}) are available", plan.settings.mode, needed,
                            inGigabytes(needed), available, inGigabytes(available)),
                "",
                fmt::format("lower batch (now {}), the largest of widths (now {}), or dataset_batches (now {})",
                            plan.config.batch, *std::ranges::max_element(plan.config.widths),
                            plan.config.datasetBatches));
}

}  // namespace fp8scope::session

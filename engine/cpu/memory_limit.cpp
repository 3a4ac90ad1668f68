// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace fp8scope::cpu {

namespace fs = std::filesystem;

namespace {

/// The first number of a file; nullopt for an unreadable file or a word ("max").
std::optional<std::uint64_t> numberIn(const fs::path& file)
{
    std::ifstream in(file);
    std::uint64_t value = 0;
    if (in >> value)
        return value;
    return std::nullopt;
}

/// The number after `key` in a file of "key value" lines.
std::optional<std::uint64_t> numberAfter(const fs::path& file, const std::string& key)
{
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string first;
        std::uint64_t value = 0;
        if (words >> first >> value && first == key)
            return value;
    }
    return std::nullopt;
}

/// This process's control group of a version 1 controller, or of version 2 (controller ""), as a path below its mount.
fs::path ownGroup(const fs::path& root, const std::string& controller)
{
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {  // id:controllers:path
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            continue;
        std::istringstream names(line.substr(first + 1, second - first - 1));
        std::string name;
        bool mine = controller.empty() && second == first + 1;
        while (std::getline(names, name, ','))
            mine = mine || (!controller.empty() && name == controller);
        if (mine)
            return fs::path(line.substr(second + 1)).relative_path();
    }
    return {};
}

/// The group's directory and all above it up to the mount: a limit anywhere on the way holds. Inside a container the
/// path may not exist; its ancestors, the mount itself at least, do.
std::vector<fs::path> directoriesUp(const fs::path& mount, fs::path group)
{
    std::vector<fs::path> directories;
    for (; !group.empty(); group = group.parent_path())
        directories.push_back(mount / group);
    directories.push_back(mount);
    return directories;
}

struct LimitFiles {
    const char* limit;
    const char* usage;
    const char* reclaimable;  // key in memory.stat: page cache that is given back under pressure
};

void applyLimits(const std::vector<fs::path>& directories, const LimitFiles& files, MemoryState& state)
{
    for (const fs::path& directory : directories) {
        const auto limit = numberIn(directory / files.limit);
        if (!limit || *limit >= state.totalBytes)
            continue;
        const std::uint64_t cache = numberAfter(directory / "memory.stat", files.reclaimable).value_or(0);
        const std::uint64_t usage = numberIn(directory / files.usage).value_or(0);
        const std::uint64_t taken = usage - std::min(usage, cache);
        state.availableBytes = std::min(state.availableBytes, *limit - std::min(*limit, taken));
    }
}

}  // namespace

MemoryState memoryState(const fs::path& root)
{
    constexpr std::uint64_t kUnknown = std::numeric_limits<std::int64_t>::max();
    const fs::path meminfo = root / "proc/meminfo";
    const auto kibibytes = [&](const char* key) -> std::uint64_t {
        const auto value = numberAfter(meminfo, key);
        return value ? *value * 1024 : kUnknown;
    };
    MemoryState state{kibibytes("MemTotal:"), kibibytes("MemAvailable:")};
    const fs::path mount = root / "sys/fs/cgroup";
    applyLimits(directoriesUp(mount, ownGroup(root, "")), {"memory.max", "memory.current", "inactive_file"}, state);
    applyLimits(directoriesUp(mount / "memory", ownGroup(root, "memory")),
                {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}, state);
    return state;
}

int cpuQuota(const fs::path& root)
{
    double cpus = std::numeric_limits<double>::infinity();
    const auto apply = [&](std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
        if (quota && period && *period > 0)
            cpus = std::min(cpus, static_cast<double>(*quota) / static_cast<double>(*period));
    };
    const fs::path mount = root / "sys/fs/cgroup";
    for (const fs::path& directory : directoriesUp(mount, ownGroup(root, ""))) {
        std::ifstream in(directory / "cpu.max");  // "max 100000" or "200000 100000"
        std::uint64_t quota = 0, period = 0;
        if (in >> quota >> period)
            apply(quota, period);
    }
    for (const fs::path& directory : directoriesUp(mount / "cpu", ownGroup(root, "cpu"))) {
        std::ifstream in(directory / "cpu.cfs_quota_us");  // -1: none
        std::int64_t quota = 0;
        if (in >> quota && quota > 0)
            apply(static_cast<std::uint64_t>(quota), numberIn(directory / "cpu.cfs_period_us"));
    }
    return cpus < std::numeric_limits<int>::max() ? std::max(1, static_cast<int>(cpus + 0.999)) : 0;
}

}  // namespace fp8scope::cpu

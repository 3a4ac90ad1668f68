// SPDX-License-Identifier: Apache-2.0
// Memory and CPU limits of control groups, version 1 and 2, nested and in containers, from files made by the test.
#include "engine/cpu/memory_limit.h"

#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace fp8scope::cpu {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMiB = 1 << 20;

/// A machine of 4 GiB with 3 GiB available, as files below a folder.
class FakeRoot {
public:
    FakeRoot() { put("proc/meminfo", "MemTotal:       4194304 kB\nMemFree:  100 kB\nMemAvailable:   3145728 kB\n"); }
    FakeRoot& put(const fs::path& file, const std::string& text)
    {
        fs::create_directories((path() / file).parent_path());
        std::ofstream(path() / file) << text;
        return *this;
    }
    [[nodiscard]] fs::path path() const { return m_folder.path(); }

private:
    test::TemporaryFolder m_folder;
};

TEST(MemoryLimitTest, WithoutGroupsTheMachineCounts)
{
    const FakeRoot root;
    const MemoryState state = memoryState(root.path());
    EXPECT_EQ(state.totalBytes, 4096 * kMiB);
    EXPECT_EQ(state.availableBytes, 3072 * kMiB);
    EXPECT_EQ(cpuQuota(root.path()), 0);
}

TEST(MemoryLimitTest, Version2CountsWhatTheGroupTookWithoutItsPageCache)
{
    FakeRoot root;
    root.put("proc/self/cgroup", "0::/user/job\n")
        .put("sys/fs/cgroup/user/job/memory.max", "1073741824\n")
        .put("sys/fs/cgroup/user/job/memory.current", "536870912\n")
        .put("sys/fs/cgroup/user/job/memory.stat", "anon 1\ninactive_file 268435456\n");
    EXPECT_EQ(memoryState(root.path()).availableBytes, 768 * kMiB);
}

TEST(MemoryLimitTest, LimitOfAnOuterGroupHolds)
{
    FakeRoot root;
    root.put("proc/self/cgroup", "0::/user/job\n")
        .put("sys/fs/cgroup/user/job/memory.max", "max\n")
        .put("sys/fs/cgroup/user/memory.max", "1073741824\n")
        .put("sys/fs/cgroup/user/memory.current", "0\n");
    EXPECT_EQ(memoryState(root.path()).availableBytes, 1024 * kMiB);
}

TEST(MemoryLimitTest, ContainerSeesItsLimitAtTheMount)
{
    FakeRoot root;  // the group's path is the host's and does not exist in the container
    root.put("proc/self/cgroup", "5:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n")
        .put("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n")
        .put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n")
        .put("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 0\n")
        .put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n")
        .put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(memoryState(root.path()).availableBytes, 1024 * kMiB);
    EXPECT_EQ(cpuQuota(root.path()), 2);
}

TEST(MemoryLimitTest, Version1NoLimitIsAHugeNumber)
{
    FakeRoot root;
    root.put("proc/self/cgroup", "5:memory:/\n")
        .put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        .put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    EXPECT_EQ(memoryState(root.path()).availableBytes, 3072 * kMiB);
    EXPECT_EQ(cpuQuota(root.path()), 0);
}

TEST(MemoryLimitTest, GroupOverItsLimitHasNothingLeft)
{
    FakeRoot root;
    root.put("proc/self/cgroup", "0::/\n")
        .put("sys/fs/cgroup/memory.max", "1000\n")
        .put("sys/fs/cgroup/memory.current", "2000\n");
    EXPECT_EQ(memoryState(root.path()).availableBytes, 0U);
}

TEST(MemoryLimitTest, CpuQuotaOfVersion2)
{
    FakeRoot root;
    root.put("proc/self/cgroup", "0::/job\n").put("sys/fs/cgroup/job/cpu.max", "max 100000\n");
    EXPECT_EQ(cpuQuota(root.path()), 0);
    root.put("sys/fs/cgroup/job/cpu.max", "50000 100000\n");
    EXPECT_EQ(cpuQuota(root.path()), 1);
    root.put("sys/fs/cgroup/job/cpu.max", "300000 100000\n");
    EXPECT_EQ(cpuQuota(root.path()), 3);
}

}  // namespace
}  // namespace fp8scope::cpu

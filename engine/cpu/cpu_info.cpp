// SPDX-License-Identifier: Apache-2.0
// What this machine's CPU is and what a process may use of it.
#include "engine/cpu/cpu_executor.h"
#include "engine/cpu/gemm.h"
#include "engine/cpu/memory_limit.h"
#include "engine/cpu/usable_cores.h"
#include "engine/kernels/cpu_kernels.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace fp8scope::cpu {

namespace {

std::string cpuName()
{
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos)
            return line.substr(colon + 2);
    }
    return "CPU";
}

}  // namespace

int usableCores()
{
    int cores = static_cast<int>(std::thread::hardware_concurrency());
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        cores = CPU_COUNT(&allowed);
    if (const int quota = cpuQuota("/"); quota > 0)
        cores = std::min(cores, quota);
    return std::max(1, cores);
}

kernels::VectorLevel vectorLevelHere()
{
    const char* const limit = std::getenv("FP8SCOPE_SIMD");
    return kernels::vectorLevelFor(limit == nullptr ? "" : limit);
}

std::string vectorLevel() { return std::string(kernels::toString(vectorLevelHere())); }

CpuInfo cpuInfo()
{
    const MemoryState memory = memoryState("/");
    return {.name = cpuName(),
            .level = vectorLevel(),
            .cores = usableCores(),
            .memoryBytes = memory.totalBytes,
            .availableBytes = memory.availableBytes,
            .nativeBf16 = nativeGemmArithmetic() == GemmArithmetic::Bf16};
}

}  // namespace fp8scope::cpu

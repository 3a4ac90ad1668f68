// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/cpu_device.h"

#include "engine/cpu/cpu_executor.h"

namespace fp8scope::worker {

wire::Device cpuDevice()
{
    const cpu::CpuInfo cpu = cpu::cpuInfo();
    return {.name = cpu.name,
            .kind = "cpu",
            .arch = cpu.level,
            .units = cpu.cores,
            .memoryBytes = cpu.memoryBytes,
            .hasFp8 = false};
}

}  // namespace fp8scope::worker

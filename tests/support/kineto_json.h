// SPDX-License-Identifier: Apache-2.0
// PyTorch profiler files of every generation, written from a profiled loop, and the ways in which such files are
// broken.
#pragma once

#include "tests/support/profiled_loop.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace fp8scope::test {

enum class KinetoGeneration : std::uint8_t {
    Early2021,    ///< Operator, Kernel, Runtime, flow "launch", string tids, whole microseconds, no deviceProperties
    Pytorch2022,  ///< cpu_op, kernel, flow async_cpu_to_gpu, int tids, whole microseconds
    Pytorch2023,  ///< flow ac2g, cuda_sync, python_function, whole microseconds
    April2024,    ///< microseconds with three decimals since 1970 (19 digits)
    Pytorch2_4,   ///< microseconds with three decimals since baseTimeNanoseconds
    Y2026,        ///< metadata events first, hardware counters, nested args
    Rocm,         ///< as Pytorch2_4, but hip calls and kernels without External id and grid
    CpuOnly,      ///< as Pytorch2_4 without anything on a device
};
[[nodiscard]] std::string_view toString(KinetoGeneration);
inline constexpr KinetoGeneration kKinetoGenerations[] = {KinetoGeneration::Early2021,   KinetoGeneration::Pytorch2022,
                                                          KinetoGeneration::Pytorch2023, KinetoGeneration::April2024,
                                                          KinetoGeneration::Pytorch2_4,  KinetoGeneration::Y2026,
                                                          KinetoGeneration::Rocm,        KinetoGeneration::CpuOnly};

struct KinetoFile {
    KinetoGeneration generation = KinetoGeneration::Pytorch2_4;
    ProfiledLoopShape loop;  ///< grainNs is set to the generation's own
    std::int32_t rank = -1;  ///< -1: no distributedInfo
    std::uint32_t pid = 4242;
    bool eventsFirst = false;  ///< traceEvents before deviceProperties and baseTimeNanoseconds
    bool bareArray = false;    ///< only the events
};

/// 1'767'189'312'000'000'000, as recent files have it; the loop's times follow it.
inline constexpr std::int64_t kKinetoBaseNs = 1'767'189'312'000'000'000;

/// The loop's shape as the file holds it: with the generation's grain.
[[nodiscard]] ProfiledLoopShape loopOf(const KinetoFile& file);
[[nodiscard]] std::string kinetoJson(const KinetoFile& file = {});

/// What writers and killed jobs do to a file.
enum class KinetoDamage : std::uint8_t {
    CutInAnEvent,      ///< a `.tmp` of a killed job
    NoClosingBracket,  ///< ends after the last event
    TrailingComma,
    EmptyLastEvent,    ///< JAX ends with {}
    Backslash,         ///< "C:\python\x.py" unescaped in a name
    ControlCharacter,  ///< a raw newline and 0x01 in a name
    NotUtf8,           ///< 0xff in a name
};
[[nodiscard]] std::string damaged(std::string json, KinetoDamage damage);
[[nodiscard]] std::string_view toString(KinetoDamage);
inline constexpr KinetoDamage kKinetoDamages[] = {KinetoDamage::CutInAnEvent,  KinetoDamage::NoClosingBracket,
                                                  KinetoDamage::TrailingComma, KinetoDamage::EmptyLastEvent,
                                                  KinetoDamage::Backslash,     KinetoDamage::ControlCharacter,
                                                  KinetoDamage::NotUtf8};

}  // namespace fp8scope::test

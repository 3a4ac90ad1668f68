// SPDX-License-Identifier: Apache-2.0
// Inputs for kernel tests: every bf16, seeded random tensors with special values, odd sizes; and a fixture for each
// level.
#pragma once

#include "engine/kernels/cpu_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace fp8scope::kernels::test {

inline std::vector<Bf16> everyBf16()
{
    std::vector<Bf16> all(65536);
    std::iota(all.begin(), all.end(), Bf16{0});
    return all;
}

/// About normal, magnitudes spread over some binades.
inline std::vector<Bf16> randomBf16(std::size_t n, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<Bf16> x(n);
    for (Bf16& value : x)
        value = encodeBf16(normal(random) * std::exp2(2 * normal(random)));
    return x;
}

/// ... with zeros, infinities, NaN, subnormal and huge values among them.
inline std::vector<Bf16> specialBf16(std::size_t n, unsigned seed)
{
    constexpr Bf16 kSpecial[] = {0x0000, 0x8000, 0x7f80, 0xff80, 0x7fc0, 0xffc1,
                                 0x0001, 0x8001, 0x7f7f, 0xff7f, 0x0080};
    std::vector<Bf16> x = randomBf16(n, seed);
    std::mt19937 random(seed + 1);
    for (Bf16& value : x)
        if (random() % 7 == 0)
            value = kSpecial[random() % std::size(kSpecial)];
    return x;
}

inline std::vector<float> randomFloats(std::size_t n, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> x(n);
    for (float& value : x)
        value = normal(random);
    return x;
}

inline std::vector<VectorLevel> availableLevels()
{
    std::vector<VectorLevel> levels;
    for (const VectorLevel level : {VectorLevel::Portable, VectorLevel::Avx2, VectorLevel::Avx512})
        if (level <= vectorLevelFor(""))
            levels.push_back(level);
    return levels;
}

inline constexpr std::size_t kLengths[] = {0, 1, 15, 16, 17, 63, 64, 65, 1000, 4099};
inline constexpr RowRange kShapes[] = {
    {.rows = 1, .cols = 1, .begin = 0, .end = 1},       {.rows = 64, .cols = 64, .begin = 0, .end = 64},
    {.rows = 65, .cols = 63, .begin = 0, .end = 65},    {.rows = 128, .cols = 80, .begin = 0, .end = 128},
    {.rows = 200, .cols = 144, .begin = 0, .end = 200}, {.rows = 7, .cols = 1030, .begin = 0, .end = 7},
    {.rows = 333, .cols = 1184, .begin = 0, .end = 333}};

/// The whole matrix in parts, as threads would split it.
inline std::vector<RowRange> parts(const RowRange& whole, std::int64_t rowsEach)
{
    std::vector<RowRange> result;
    for (std::int64_t begin = 0; begin < whole.rows; begin += rowsEach)
        result.push_back({whole.rows, whole.cols, begin, std::min(begin + rowsEach, whole.rows)});
    return result;
}

/// A test that runs at every level of this machine; each level is held to the same plain reference.
class EveryLevel : public testing::TestWithParam<VectorLevel> {
protected:
    const CpuKernels& kernels = cpuKernels(GetParam());
};

}  // namespace fp8scope::kernels::test

// SPDX-License-Identifier: Apache-2.0
// Random numbers by counter: the i-th number of a stream is a function of (seed, stream, i), so tensors are filled in
// parallel with the same result on any number of threads.
//
// The generator is SplitMix64 (Steele, Lea, Flood 2014): output i is mix(key + (i + 1) * golden), here with a key mixed
// from seed and stream.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace fp8scope::cpu {

class RandomStream {
public:
    constexpr RandomStream(std::uint64_t seed, std::uint64_t stream)
        : m_key(mix(mix(seed + kGolden) ^ (stream * kGolden)))
    {}

    [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t i) const { return mix(m_key + (i + 1) * kGolden); }

    /// In [low, high), 24 random bits.
    [[nodiscard]] constexpr float uniform(std::uint64_t i, float low, float high) const
    {
        return low + (high - low) * (static_cast<float>(bits(i) >> 40) * 0x1p-24F);
    }

    /// Standard normal by Box-Muller, from the two halves of one output.
    [[nodiscard]] float normal(std::uint64_t i) const
    {
        const std::uint64_t both = bits(i);
        const double radius = (static_cast<double>(both >> 32) + 1) * 0x1p-32;  // (0, 1]
        const double angle = static_cast<double>(both & 0xffffffffU) * 0x1p-32;
        return static_cast<float>(std::sqrt(-2 * std::log(radius)) * std::cos(2 * std::numbers::pi * angle));
    }

private:
    static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;
    static constexpr std::uint64_t mix(std::uint64_t z)
    {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

    std::uint64_t m_key;
};

/// Streams of a run; layers are added to the last three.
inline constexpr std::uint64_t kInputStream = 1;
inline constexpr std::uint64_t kTeacherWeightStream = 1U << 20;
inline constexpr std::uint64_t kTeacherBiasStream = 2U << 20;
inline constexpr std::uint64_t kWeightStream = 3U << 20;

}  // namespace fp8scope::cpu

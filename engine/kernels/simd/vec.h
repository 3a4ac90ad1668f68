// SPDX-License-Identifier: Apache-2.0
// Sixteen lanes of f32 or u32, held in GCC vectors of 16, 32 or 64 bytes. Every level computes the same sixteen lanes
// in the same order, which is why results do not depend on the level. Included only through the level_*.cpp files,
// which are compiled for the instruction set that Bytes stands for, without contraction of a * b + c.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fp8scope::kernels {

inline constexpr std::size_t kLanes = 16;

/// Sixteen lanes of T in chunks of one register.
template <class T, int Bytes>
struct Lanes16 {
    using Chunk [[gnu::vector_size(Bytes)]] = T;
    /// A chunk anywhere in memory. Going through it (not memcpy) lets GCC keep lanes in registers.
    using MemoryChunk [[gnu::vector_size(Bytes), gnu::aligned(1), gnu::may_alias]] = T;
    static constexpr std::size_t kChunks = 64 / Bytes;
    static constexpr std::size_t kChunkLanes = kLanes / kChunks;
    Chunk c[kChunks];
};

/// The vector types of a level.
template <int Bytes>
struct Vec {
    using F32 = Lanes16<float, Bytes>;
    using U32 = Lanes16<std::uint32_t, Bytes>;
    using Mask = Lanes16<std::int32_t, Bytes>;  ///< comparison results: -1 where true, else 0

    [[gnu::always_inline]] static F32 splat(float value)
    {
        F32 r;
        for (auto& chunk : r.c)
            chunk = value - typename F32::Chunk{};
        return r;
    }
    [[gnu::always_inline]] static U32 splat(std::uint32_t value)
    {
        U32 r;
        for (auto& chunk : r.c)
            chunk = value - typename U32::Chunk{};
        return r;
    }
    /// True in the first n lanes.
    [[gnu::always_inline]] static Mask firstLanes(std::size_t n)
    {
        Mask r;
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            r.c[lane / Mask::kChunkLanes][lane % Mask::kChunkLanes] = lane < n ? -1 : 0;
        return r;
    }
};

template <class T, int B>
[[gnu::always_inline]] inline Lanes16<T, B> operator+(const Lanes16<T, B>& a, const Lanes16<T, B>& b)
{
    Lanes16<T, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] + b.c[i];
    return r;
}
template <class T, int B>
[[gnu::always_inline]] inline Lanes16<T, B> operator-(const Lanes16<T, B>& a, const Lanes16<T, B>& b)
{
    Lanes16<T, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] - b.c[i];
    return r;
}
template <class T, int B>
[[gnu::always_inline]] inline Lanes16<T, B> operator&(const Lanes16<T, B>& a, const Lanes16<T, B>& b)
{
    Lanes16<T, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] & b.c[i];
    return r;
}
template <class T, int B>
[[gnu::always_inline]] inline Lanes16<T, B> operator|(const Lanes16<T, B>& a, const Lanes16<T, B>& b)
{
    Lanes16<T, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] | b.c[i];
    return r;
}
template <int B>
[[gnu::always_inline]] inline Lanes16<float, B> operator*(const Lanes16<float, B>& a, const Lanes16<float, B>& b)
{
    Lanes16<float, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] * b.c[i];
    return r;
}
template <int B>
[[gnu::always_inline]] inline Lanes16<float, B> operator/(const Lanes16<float, B>& a, const Lanes16<float, B>& b)
{
    Lanes16<float, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] / b.c[i];
    return r;
}
template <class T, int B>
[[gnu::always_inline]] inline Lanes16<std::int32_t, B> operator>(const Lanes16<T, B>& a, const Lanes16<T, B>& b)
{
    Lanes16<std::int32_t, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] > b.c[i];
    return r;
}
template <class T, int B>
[[gnu::always_inline]] inline Lanes16<std::int32_t, B> operator==(const Lanes16<T, B>& a, const Lanes16<T, B>& b)
{
    Lanes16<std::int32_t, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] == b.c[i];
    return r;
}
/// a < b ? a : b, so b when one is NaN.
template <class T, int B>
[[gnu::always_inline]] inline Lanes16<T, B> min(const Lanes16<T, B>& a, const Lanes16<T, B>& b)
{
    Lanes16<T, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] < b.c[i] ? a.c[i] : b.c[i];
    return r;
}
/// a > b ? a : b, so b when one is NaN.
template <class T, int B>
[[gnu::always_inline]] inline Lanes16<T, B> max(const Lanes16<T, B>& a, const Lanes16<T, B>& b)
{
    Lanes16<T, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] > b.c[i] ? a.c[i] : b.c[i];
    return r;
}
template <class T, int B>
[[gnu::always_inline]] inline Lanes16<T, B> select(const Lanes16<std::int32_t, B>& mask, const Lanes16<T, B>& a,
                                                   const Lanes16<T, B>& b)
{
    Lanes16<T, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = mask.c[i] ? a.c[i] : b.c[i];
    return r;
}
/// Bits of a where `bits` is set, else of b.
template <int B>
[[gnu::always_inline]] inline Lanes16<std::uint32_t, B> chooseBits(const Lanes16<std::uint32_t, B>& bits,
                                                                   const Lanes16<std::uint32_t, B>& a,
                                                                   const Lanes16<std::uint32_t, B>& b)
{
    Lanes16<std::uint32_t, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i) {
#if defined(__x86_64__)
        if constexpr (B == 64) {
            r.c[i] = reinterpret_cast<typename Lanes16<std::uint32_t, B>::Chunk>(
                _mm512_ternarylogic_epi32(reinterpret_cast<__m512i>(bits.c[i]), reinterpret_cast<__m512i>(a.c[i]),
                                          reinterpret_cast<__m512i>(b.c[i]), 0xca));
            continue;
        }
#endif
        r.c[i] = (a.c[i] & bits.c[i]) | (b.c[i] & ~bits.c[i]);
    }
    return r;
}
template <int Count, int B>
[[gnu::always_inline]] inline Lanes16<std::uint32_t, B> shiftLeft(const Lanes16<std::uint32_t, B>& a)
{
    Lanes16<std::uint32_t, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] << Count;
    return r;
}
template <int Count, int B>
[[gnu::always_inline]] inline Lanes16<std::uint32_t, B> shiftRight(const Lanes16<std::uint32_t, B>& a)
{
    Lanes16<std::uint32_t, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = a.c[i] >> Count;
    return r;
}
/// Shifts the two 16-bit halves of a lane.
template <int Count, int B>
[[gnu::always_inline]] inline Lanes16<std::uint32_t, B> shiftWordsRight(const Lanes16<std::uint32_t, B>& a)
{
    using Words [[gnu::vector_size(B)]] = std::uint16_t;
    Lanes16<std::uint32_t, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = reinterpret_cast<typename Lanes16<std::uint32_t, B>::Chunk>(reinterpret_cast<Words>(a.c[i]) >> Count);
    return r;
}
template <int B>
[[gnu::always_inline]] inline Lanes16<float, B> squareRoot(const Lanes16<float, B>& a)
{
    Lanes16<float, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i) {
#if defined(__x86_64__)
        if constexpr (B == 64)
            r.c[i] =
                reinterpret_cast<typename Lanes16<float, B>::Chunk>(_mm512_sqrt_ps(reinterpret_cast<__m512>(a.c[i])));
        else if constexpr (B == 32)
            r.c[i] =
                reinterpret_cast<typename Lanes16<float, B>::Chunk>(_mm256_sqrt_ps(reinterpret_cast<__m256>(a.c[i])));
        else
            r.c[i] = reinterpret_cast<typename Lanes16<float, B>::Chunk>(_mm_sqrt_ps(reinterpret_cast<__m128>(a.c[i])));
#else
        for (std::size_t lane = 0; lane < r.kChunkLanes; ++lane)
            r.c[i][lane] = std::sqrt(a.c[i][lane]);
#endif
    }
    return r;
}
/// The same bits as another type.
template <int B>
[[gnu::always_inline]] inline Lanes16<float, B> asFloat(const Lanes16<std::uint32_t, B>& a)
{
    Lanes16<float, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = reinterpret_cast<typename Lanes16<float, B>::Chunk>(a.c[i]);
    return r;
}
template <int B>
[[gnu::always_inline]] inline Lanes16<std::uint32_t, B> asBits(const Lanes16<float, B>& a)
{
    Lanes16<std::uint32_t, B> r;
    for (std::size_t i = 0; i < r.kChunks; ++i)
        r.c[i] = reinterpret_cast<typename Lanes16<std::uint32_t, B>::Chunk>(a.c[i]);
    return r;
}
/// Adds one to the lanes of `counter` that are set in `mask`.
template <int B>
[[gnu::always_inline]] inline void countInto(Lanes16<std::uint32_t, B>& counter, const Lanes16<std::int32_t, B>& mask)
{
    for (std::size_t i = 0; i < counter.kChunks; ++i)
        counter.c[i] -= reinterpret_cast<typename Lanes16<std::uint32_t, B>::Chunk>(mask.c[i]);
}

}  // namespace fp8scope::kernels

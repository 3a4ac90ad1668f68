// SPDX-License-Identifier: Apache-2.0
// Moves between memory and lanes, with widening and narrowing of 8- and 16-bit elements, whole or the first n lanes.
// GCC's generic conversions of narrow vectors go through scalars on SSE2 and AVX2; hence the instructions by name.
#pragma once

#include "engine/kernels/simd/vec.h"

#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fp8scope::kernels {

static_assert(std::endian::native == std::endian::little, "pairs are taken apart by halves of a word");

/// All sixteen lanes at p.
template <int B>
struct WholeVector {
    using V = Vec<B>;
    using F32 = typename V::F32;
    using U32 = typename V::U32;
    using Mask = typename V::Mask;

    [[nodiscard]] static constexpr std::size_t count() { return kLanes; }
    [[gnu::always_inline]] static Mask only(const Mask& mask) { return mask; }

    [[gnu::always_inline]] static F32 load(const float* p)
    {
        F32 r;
        for (std::size_t i = 0; i < F32::kChunks; ++i)
            r.c[i] = *reinterpret_cast<const typename F32::MemoryChunk*>(p + i * F32::kChunkLanes);
        return r;
    }
    template <class T>
    [[gnu::always_inline]] static void store(T* p, const Lanes16<T, B>& v)
    {
        for (std::size_t i = 0; i < v.kChunks; ++i)
            *reinterpret_cast<typename Lanes16<T, B>::MemoryChunk*>(p + i * v.kChunkLanes) = v.c[i];
    }

    /// Zero-extended.
    [[gnu::always_inline]] static U32 load(const std::uint16_t* p)
    {
        U32 r;
#if defined(__x86_64__)
        if constexpr (B == 64) {
            put(r.c[0], _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
        } else if constexpr (B == 32) {
            put(r.c[0], _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
            put(r.c[1], _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8))));
        } else {
            for (std::size_t half = 0; half < 2; ++half) {
                const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8 * half));
                put(r.c[2 * half], _mm_unpacklo_epi16(words, _mm_setzero_si128()));
                put(r.c[2 * half + 1], _mm_unpackhi_epi16(words, _mm_setzero_si128()));
            }
        }
#else
        widen(r, p);
#endif
        return r;
    }
    [[gnu::always_inline]] static U32 load(const std::uint8_t* p)
    {
        U32 r;
#if defined(__x86_64__)
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        if constexpr (B == 64) {
            put(r.c[0], _mm512_cvtepu8_epi32(bytes));
        } else if constexpr (B == 32) {
            put(r.c[0], _mm256_cvtepu8_epi32(bytes));
            put(r.c[1], _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)));
        } else {
            const __m128i zero = _mm_setzero_si128();
            const __m128i low = _mm_unpacklo_epi8(bytes, zero), high = _mm_unpackhi_epi8(bytes, zero);
            put(r.c[0], _mm_unpacklo_epi16(low, zero));
            put(r.c[1], _mm_unpackhi_epi16(low, zero));
            put(r.c[2], _mm_unpacklo_epi16(high, zero));
            put(r.c[3], _mm_unpackhi_epi16(high, zero));
        }
#else
        widen(r, p);
#endif
        return r;
    }

    /// Values must fit 16 bits.
    [[gnu::always_inline]] static void store(std::uint16_t* p, const U32& v)
    {
#if defined(__x86_64__)
        if constexpr (B == 64) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(get<__m512i>(v.c[0])));
        } else if constexpr (B == 32) {
            const __m256i mixed = _mm256_packus_epi32(get<__m256i>(v.c[0]), get<__m256i>(v.c[1]));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(mixed, 0xd8));
        } else {
            for (std::size_t half = 0; half < 2; ++half)
                _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8 * half), packWords(v.c[2 * half], v.c[2 * half + 1]));
        }
#else
        narrow(p, v);
#endif
    }
    /// Values must fit 8 bits.
    [[gnu::always_inline]] static void store(std::uint8_t* p, const U32& v)
    {
#if defined(__x86_64__)
        __m128i bytes;
        if constexpr (B == 64) {
            bytes = _mm512_cvtepi32_epi8(get<__m512i>(v.c[0]));
        } else if constexpr (B == 32) {
            const __m256i mixed = _mm256_packus_epi32(get<__m256i>(v.c[0]), get<__m256i>(v.c[1]));
            const __m256i words = _mm256_permute4x64_epi64(mixed, 0xd8);
            bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        } else {
            bytes = _mm_packus_epi16(packWords(v.c[0], v.c[1]), packWords(v.c[2], v.c[3]));
        }
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
#else
        narrow(p, v);
#endif
    }

    /// 32 elements of 16 bits, two a lane, the first in the low half.
    [[gnu::always_inline]] static U32 loadPairs(const std::uint16_t* p)
    {
        U32 r;
        for (std::size_t i = 0; i < U32::kChunks; ++i)
            r.c[i] = *reinterpret_cast<const typename U32::MemoryChunk*>(p + 2 * i * U32::kChunkLanes);
        return r;
    }
    /// The 32 words of v as bytes. Values must fit 8 bits.
    [[gnu::always_inline]] static void storePairs(std::uint8_t* p, const U32& v)
    {
#if defined(__x86_64__)
        if constexpr (B == 64) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi16_epi8(get<__m512i>(v.c[0])));
        } else if constexpr (B == 32) {
            const __m256i mixed = _mm256_packus_epi16(get<__m256i>(v.c[0]), get<__m256i>(v.c[1]));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(mixed, 0xd8));
        } else {
            for (std::size_t half = 0; half < 2; ++half)
                _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 16 * half),
                                 _mm_packus_epi16(get<__m128i>(v.c[2 * half]), get<__m128i>(v.c[2 * half + 1])));
        }
#else
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const std::uint32_t pair = v.c[lane / U32::kChunkLanes][lane % U32::kChunkLanes];
            p[2 * lane] = static_cast<std::uint8_t>(pair);
            p[2 * lane + 1] = static_cast<std::uint8_t>(pair >> 16);
        }
#endif
    }

private:
    template <class Chunk, class Register>
    [[gnu::always_inline]] static void put(Chunk& chunk, const Register& value)
    {
        static_assert(sizeof chunk == sizeof value);
        chunk = reinterpret_cast<Chunk>(value);
    }
    template <class Register, class Chunk>
    [[gnu::always_inline]] static Register get(const Chunk& chunk)
    {
        static_assert(sizeof(Register) == sizeof chunk);
        return reinterpret_cast<Register>(chunk);
    }
#if defined(__x86_64__)
    /// SSE2 packs signed words only: sign-extend the low words first, so that nothing saturates.
    template <class Chunk>
    [[gnu::always_inline]] static __m128i packWords(const Chunk& low, const Chunk& high)
    {
        const auto signExtended = [](const Chunk& chunk) {
            return _mm_srai_epi32(_mm_slli_epi32(get<__m128i>(chunk), 16), 16);
        };
        return _mm_packs_epi32(signExtended(low), signExtended(high));
    }
#else
    template <class T>
    static void widen(U32& r, const T* p)
    {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            r.c[lane / U32::kChunkLanes][lane % U32::kChunkLanes] = p[lane];
    }
    template <class T>
    static void narrow(T* p, const U32& v)
    {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            p[lane] = static_cast<T>(v.c[lane / U32::kChunkLanes][lane % U32::kChunkLanes]);
    }
#endif
};

/// The first n lanes at p; the others load as zero and are not stored.
template <int B>
struct PartialVector {
    using V = Vec<B>;
    using Whole = WholeVector<B>;
    using F32 = typename V::F32;
    using U32 = typename V::U32;
    using Mask = typename V::Mask;
    std::size_t n;

    [[nodiscard]] std::size_t count() const { return n; }
    [[nodiscard, gnu::always_inline]] Mask only(const Mask& mask) const { return mask & V::firstLanes(n); }

    template <class T>
    [[nodiscard, gnu::always_inline]] auto load(const T* p) const
    {
        T lanes[kLanes] = {};
        std::memcpy(lanes, p, n * sizeof(T));
        return Whole::load(lanes);
    }
    template <class T, class Lanes>
    [[gnu::always_inline]] void store(T* p, const Lanes& v) const
    {
        T lanes[kLanes];
        Whole::store(lanes, v);
        std::memcpy(p, lanes, n * sizeof(T));
    }
};

/// body(i, lanes) for i = 0, 16, 32, ... < n, with WholeVector and, for the rest, PartialVector.
template <int B, class Body>
[[gnu::always_inline]] inline void forEachVector(std::size_t n, Body&& body)
{
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        body(i, WholeVector<B>{});
    if (i < n)
        body(i, PartialVector<B>{n - i});
}

/// How many of n elements (at most 4000) are zero but for their top bit, the sign of bf16 and fp8.
template <int B, class T>
[[nodiscard]] inline std::size_t countZeros(const T* p, std::size_t n)
{
    using Chunk [[gnu::vector_size(B)]] = T;
    using MemoryChunk [[gnu::vector_size(B), gnu::aligned(1), gnu::may_alias]] = T;
    constexpr std::size_t kElements = B / sizeof(T);
    Chunk counts{};
    std::size_t i = 0;
    for (; i + kElements <= n; i += kElements)
        counts -= reinterpret_cast<Chunk>((*reinterpret_cast<const MemoryChunk*>(p + i) << 1) == 0);
    std::size_t zeros = 0;
    for (std::size_t lane = 0; lane < kElements; ++lane)
        zeros += counts[lane];
    for (; i < n; ++i)
        zeros += static_cast<T>(p[i] << 1) == 0 ? 1 : 0;
    return zeros;
}

/// The lanes added up in their order.
template <class Sum, class T, int B>
[[nodiscard, gnu::always_inline]] inline Sum sumLanes(const Lanes16<T, B>& v)
{
    T lanes[kLanes];
    WholeVector<B>::store(lanes, v);
    Sum sum = 0;
    for (const T lane : lanes)
        sum += lane;
    return sum;
}

}  // namespace fp8scope::kernels

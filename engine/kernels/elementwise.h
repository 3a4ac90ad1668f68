// SPDX-License-Identifier: Apache-2.0
// The conversions of numerics/formats.h on sixteen lanes: the same steps, so the same bits, with what a cast counts.
#pragma once

#include "engine/kernels/simd/load_store.h"
#include "engine/numerics/quantization.h"

namespace fp8scope::kernels {

template <int B>
using F32 = typename Vec<B>::F32;
template <int B>
using U32 = typename Vec<B>::U32;

template <int B>
[[gnu::always_inline]] inline F32<B> widenBf16(const U32<B>& bits)
{
    return asFloat<B>(shiftLeft<16, B>(bits));
}

/// bf16 bits in the low halves.
template <int B>
[[gnu::always_inline]] inline U32<B> roundToBf16(const F32<B>& x)
{
    using V = Vec<B>;
    const U32<B> bits = asBits<B>(x);
    const U32<B> odd = shiftRight<16, B>(bits) & V::splat(1U);
    const U32<B> rounded = shiftRight<16, B>(bits + V::splat(0x7fffU) + odd);
    return select(x == x, rounded, V::splat(static_cast<std::uint32_t>(kBf16Nan)));
}

template <int B>
[[gnu::always_inline]] inline F32<B> absolute(const F32<B>& x)
{
    return asFloat<B>(asBits<B>(x) & Vec<B>::splat(0x7fffffffU));
}

/// What a cast counts, lane by lane. 32 bits a lane hold 2^36 elements.
template <int B>
struct CastCounters {
    U32<B> beyond = Vec<B>::splat(0U);  ///< saturated or NaN
    U32<B> nan = Vec<B>::splat(0U);
    U32<B> zeros = Vec<B>::splat(0U);
    U32<B> zeroCodes = Vec<B>::splat(0U);  ///< zeros and underflowed

    [[nodiscard]] CastCounts total() const
    {
        const std::uint64_t zero = sumLanes<std::uint64_t>(zeros);
        return {.saturated = sumLanes<std::uint64_t>(beyond) - sumLanes<std::uint64_t>(nan),
                .underflowed = sumLanes<std::uint64_t>(zeroCodes) - zero,
                .zeros = zero};
    }
};

/// encodeFp8 of numerics/formats.h; see there for the rounding by addition.
template <int B, DType Type, class LanesUsed>
[[gnu::always_inline]] inline U32<B> roundToFp8(const F32<B>& scaled, CastCounters<B>& counters, const LanesUsed& lanes)
{
    using V = Vec<B>;
    constexpr Fp8Traits f = fp8Traits(Type);
    constexpr std::uint32_t minBits = static_cast<std::uint32_t>(f.minExponent + 127) << 23;
    constexpr int kept = 23 - f.mantissaBits;

    const U32<B> bits = asBits<B>(scaled);
    const U32<B> magnitude = bits & V::splat(0x7fffffffU);
    const auto isBeyond = magnitude > V::splat(f.maxBits);
    const auto isNan = magnitude > V::splat(0x7f800000U);
    const U32<B> clamped = min(magnitude, V::splat(f.maxBits));
    const U32<B> exponentBits = max(clamped & V::splat(0x7f800000U), V::splat(minBits));
    const U32<B> unit = exponentBits + V::splat(static_cast<std::uint32_t>(kept) << 23);
    const U32<B> sum = asBits<B>(asFloat<B>(clamped) + asFloat<B>(unit));
    const U32<B> code = shiftRight<kept, B>(exponentBits - V::splat(minBits)) + (sum - unit);
    const U32<B> sign = shiftRight<24, B>(bits) & V::splat(0x80U);

    countInto<B>(counters.beyond, lanes.only(isBeyond));
    countInto<B>(counters.nan, lanes.only(isNan));
    countInto<B>(counters.zeros, lanes.only(magnitude == V::splat(0U)));
    countInto<B>(counters.zeroCodes, lanes.only(code == V::splat(0U)));
    return select(isNan, V::splat(static_cast<std::uint32_t>(kFp8Nan)), code | sign);
}

/// roundToFp8 without its exceptions, for products that are not negative, not NaN and not beyond the largest code. The
/// code is in the low seven bits. The sum's low bits are used as they stand: the code's offset, an even number, so that
/// ties stay ties to even, goes into `unit`.
template <int B, DType Type>
[[gnu::always_inline]] inline U32<B> ordinaryCode(const F32<B>& scaled)
{
    using V = Vec<B>;
    constexpr Fp8Traits f = fp8Traits(Type);
    constexpr std::uint32_t minBits = static_cast<std::uint32_t>(f.minExponent + 127) << 23;
    constexpr int kept = 23 - f.mantissaBits;
    constexpr std::uint32_t offset = (0U - (minBits >> kept)) & 0x7fU;
    static_assert(offset % 2 == 0);

    const U32<B> exponentBits = max(asBits<B>(scaled) & V::splat(0x7f800000U), V::splat(minBits));
    const U32<B> unit = exponentBits + V::splat((static_cast<std::uint32_t>(kept) << 23) + offset);
    return asBits<B>(scaled + asFloat<B>(unit)) + shiftRight<kept, B>(exponentBits);
}

/// The codes of 32 bf16 in pairs, lane by lane, in the low bytes of 16-bit words. Taking even and odd elements apart by
/// masks and putting codes back together costs less than widening and narrowing; this is the loop that casts spend
/// their time in.
template <int B, DType Type>
[[gnu::always_inline]] inline U32<B> ordinaryCodesOfPairs(const U32<B>& pairs, const F32<B>& scale)
{
    using V = Vec<B>;
    const U32<B> magnitudes = pairs & V::splat(0x7fff7fffU);
    const F32<B> even = asFloat<B>(shiftLeft<16, B>(magnitudes)) * scale;
    const F32<B> odd = asFloat<B>(magnitudes & V::splat(0xffff0000U)) * scale;
    const U32<B> codes =
        chooseBits<B>(V::splat(0xffffU), ordinaryCode<B, Type>(even), shiftLeft<16, B>(ordinaryCode<B, Type>(odd)));
    return chooseBits<B>(V::splat(0x007f007fU), codes, shiftWordsRight<8, B>(pairs));
}

/// decodeFp8 of numerics/formats.h. Subnormals come out of a subtraction, for f32 subnormals would be slow on some
/// CPUs.
template <int B, DType Type>
[[gnu::always_inline]] inline F32<B> widenFp8(const U32<B>& codes)
{
    using V = Vec<B>;
    constexpr Fp8Traits f = fp8Traits(Type);
    constexpr std::uint32_t minBits = static_cast<std::uint32_t>(f.minExponent + 127) << 23;

    const U32<B> magnitude = codes & V::splat(0x7fU);
    const U32<B> sign = shiftLeft<24, B>(codes & V::splat(0x80U));
    const U32<B> shifted = shiftLeft<23 - f.mantissaBits, B>(magnitude) + V::splat(minBits);
    const U32<B> normal = shifted - V::splat(1U << 23);
    const U32<B> subnormal = asBits<B>(asFloat<B>(shifted) - asFloat<B>(V::splat(minBits)));
    const auto isNormal = magnitude > V::splat((1U << f.mantissaBits) - 1U);
    U32<B> value = select(isNormal, normal, subnormal);
    value = select(magnitude > V::splat(static_cast<std::uint32_t>(f.maxCode)), V::splat(0x7fc00000U), value);
    if constexpr (Type == DType::E5m2)
        value = select(magnitude == V::splat(0x7cU), V::splat(0x7f800000U), value);
    return asFloat<B>(value | sign);
}

}  // namespace fp8scope::kernels

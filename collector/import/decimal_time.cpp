// SPDX-License-Identifier: Apache-2.0
#include "collector/import/decimal_time.h"

#include <charconv>
#include <limits>

namespace fp8scope::import {
namespace {

constexpr int kMaxExponent = 400;  // of doubles; more is no time

/// The digits of a number without its point: value = mantissa * 10^exponent.
struct Decimal {
    std::uint64_t mantissa = 0;
    int exponent = 0;
    bool negative = false;
};

constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool appendDigit(std::uint64_t& mantissa, char c)
{
    return !__builtin_mul_overflow(mantissa, std::uint64_t{10}, &mantissa) &&
           !__builtin_add_overflow(mantissa, static_cast<std::uint64_t>(c - '0'), &mantissa);
}

/// Up to 19 digits count; digits of a fraction beyond them are below any ns that fits.
std::optional<Decimal> parse(std::string_view text)
{
    Decimal number;
    std::size_t i = 0;
    if (i < text.size() && (text[i] == '-' || text[i] == '+'))
        number.negative = text[i++] == '-';
    const std::size_t first = i;
    for (; i < text.size() && isDigit(text[i]); ++i)
        if (!appendDigit(number.mantissa, text[i]))
            return std::nullopt;
    std::size_t digits = i - first;
    if (i < text.size() && text[i] == '.') {
        for (++i; i < text.size() && isDigit(text[i]); ++i, ++digits) {
            std::uint64_t longer = number.mantissa;
            if (number.exponent > -18 && appendDigit(longer, text[i])) {
                number.mantissa = longer;
                --number.exponent;
            }
        }
    }
    if (digits == 0)
        return std::nullopt;
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        int power = 0;
        i += i + 1 < text.size() && text[i + 1] == '+' ? 2 : 1;
        const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), power);
        if (error != std::errc() || power > kMaxExponent || power < -kMaxExponent)
            return std::nullopt;
        number.exponent += power;
        i = static_cast<std::size_t>(end - text.data());
    }
    return i == text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> nsFromMicroseconds(std::string_view text)
{
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
        text = text.substr(1, text.size() - 2);
    std::optional<Decimal> number = parse(text);
    if (!number)
        return std::nullopt;
    int exponent = number->exponent + 3;
    for (; exponent < 0 && number->mantissa != 0; ++exponent)
        number->mantissa /= 10;
    for (; exponent > 0 && number->mantissa != 0; --exponent)
        if (!appendDigit(number->mantissa, '0'))
            return std::nullopt;
    if (number->mantissa > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return std::nullopt;
    const auto ns = static_cast<std::int64_t>(number->mantissa);
    return number->negative ? -ns : ns;
}

}  // namespace fp8scope::import

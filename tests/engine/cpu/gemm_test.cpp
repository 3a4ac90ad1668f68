// SPDX-License-Identifier: Apache-2.0
// GEMM calls through oneDNN against a plain double-precision product: every layout that plans use, odd sizes, gaps
// between columns, scales, bias, accumulation.
#include "engine/cpu/gemm.h"

#include "collector/trace/error.h"
#include "engine/cpu/random.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace fp8scope::cpu {
namespace {

using kernels::Bf16;
using plan::GemmCall;
using plan::MatrixLayout;

const kernels::CpuKernels& hereKernels() { return kernels::cpuKernels(kernels::vectorLevelFor("")); }

std::vector<GemmArithmetic> arithmetics()
{
    std::vector<GemmArithmetic> both{GemmArithmetic::F32};
    if (nativeGemmArithmetic() == GemmArithmetic::Bf16)
        both.push_back(GemmArithmetic::Bf16);
    return both;
}

void store(std::byte* at, DType type, float value)
{
    const auto put = [at](auto bits) { std::memcpy(at, &bits, sizeof bits); };
    switch (type) {
    case DType::F32: put(value); break;
    case DType::Bf16: put(encodeBf16(value)); break;
    default: put(encodeFp8(value, type)); break;
    }
}

double load(const std::byte* at, DType type)
{
    const auto get = [at]<typename T>(T bits) {
        std::memcpy(&bits, at, sizeof bits);
        return bits;
    };
    switch (type) {
    case DType::F32: return get(0.0F);
    case DType::Bf16: return decodeBf16(get(Bf16{}));
    default: return decodeFp8(get(std::uint8_t{}), type);
    }
}

/// A column-major matrix in memory, with whatever stands between its columns.
struct Matrix {
    MatrixLayout layout;
    std::vector<std::byte> bytes;

    explicit Matrix(const MatrixLayout& shape, std::uint64_t seed = 0)
        : layout(shape), bytes(static_cast<std::size_t>(shape.ld * shape.cols) * sizeOf(shape.type))
    {
        const RandomStream random(seed, 7);
        for (std::int64_t i = 0; i < layout.ld * layout.cols; ++i)
            store(at(i), layout.type, random.uniform(static_cast<std::uint64_t>(i), -2, 2));
    }
    [[nodiscard]] std::byte* at(std::int64_t element)
    {
        return bytes.data() + static_cast<std::size_t>(element) * sizeOf(layout.type);
    }
    [[nodiscard]] const std::byte* at(std::int64_t element) const
    {
        return bytes.data() + static_cast<std::size_t>(element) * sizeOf(layout.type);
    }
    [[nodiscard]] double value(std::int64_t row, std::int64_t col, bool transposed = false) const
    {
        return load(at(transposed ? row * layout.ld + col : col * layout.ld + row), layout.type);
    }
};

struct Case {
    std::int64_t m = 0, n = 0, k = 0;
    bool transA = true, transB = false;
    DType a = DType::Bf16, b = DType::Bf16, d = DType::Bf16;
    bool scaled = false, bias = false;
    float alpha = 1, beta = 0;
    std::int64_t gap = 0;  ///< extra leading dimension
};

GemmCall callFor(const Case& c)
{
    GemmCall call;
    call.transA = c.transA;
    call.transB = c.transB;
    const auto layout = [&](DType type, std::int64_t rows, std::int64_t cols) {
        return MatrixLayout{type, rows, cols, rows + c.gap};
    };
    call.a = c.transA ? layout(c.a, c.k, c.m) : layout(c.a, c.m, c.k);
    call.b = c.transB ? layout(c.b, c.n, c.k) : layout(c.b, c.k, c.n);
    call.d = layout(c.d, c.m, c.n);
    call.alpha = c.alpha;
    call.beta = c.beta;
    if (c.scaled) {
        call.aScaleMode = call.bScaleMode = plan::ScaleMode::Scalar32F;
        call.aScale = plan::TensorId(0);
        call.bScale = plan::TensorId(1);
    }
    if (c.bias) {
        call.epilogue = plan::Epilogue::Bias;
        call.bias = plan::TensorId(2);
    }
    return call;
}

constexpr float kAScale = 0.37F, kBScale = 1.93F;

/// The result of one element in double, and how far the fp32 sum may be from it.
struct Expected {
    double value = 0, tolerance = 0;
};

Expected expected(const Case& c, const Matrix& a, const Matrix& b, const Matrix& before, const Matrix& bias,
                  std::int64_t row, std::int64_t col)
{
    double sum = 0, magnitude = 0;
    for (std::int64_t l = 0; l < c.k; ++l) {
        const double product = a.value(row, l, c.transA) * b.value(l, col, c.transB);
        sum += product;
        magnitude += std::abs(product);
    }
    const double factor = c.alpha * (c.scaled ? double{kAScale} * kBScale : 1.0);
    Expected e;
    e.value = factor * sum;
    if (c.beta != 0)
        e.value += c.beta * before.value(row, col);
    if (c.bias)
        e.value += bias.value(row, 0);
    // fp32 sums of k products in any order err by at most k 2^-24 of the magnitudes' sum; the epilogue rounds a few
    // times more.
    e.tolerance = std::ldexp(static_cast<double>(c.k) * magnitude * std::abs(factor) + 4 * std::abs(e.value) + 4, -24);
    if (c.d == DType::Bf16)
        e.tolerance +=
            std::ldexp(std::abs(e.value) + e.tolerance, -8);  // half a unit in the last place of 7 mantissa bits
    return e;
}

void expectProduct(const Case& c, GemmArithmetic arithmetic)
{
    const GemmCall call = callFor(c);
    const Matrix a(call.a, 1), b(call.b, 2), bias({DType::Bf16, c.m, 1, c.m}, 3);
    Matrix d(call.d, 4);
    const Matrix before = d;

    GemmRunner runner(hereKernels(), arithmetic);
    const GemmHandle handle = runner.prepare(call);
    const auto scalar = [&](const float& scale) {
        return c.scaled ? reinterpret_cast<const std::byte*>(&scale) : nullptr;
    };
    runner.run(handle, {a.bytes.data(), b.bytes.data(), d.bytes.data(), scalar(kAScale), scalar(kBScale),
                        c.bias ? bias.bytes.data() : nullptr});

    for (std::int64_t col = 0; col < c.n; ++col) {
        for (std::int64_t row = 0; row < c.m; ++row) {
            const Expected e = expected(c, a, b, before, bias, row, col);
            ASSERT_NEAR(d.value(row, col), e.value, e.tolerance) << "at " << row << ", " << col;
        }
        for (std::int64_t row = c.m; row < call.d.ld; ++row)
            ASSERT_EQ(d.value(row, col), before.value(row, col))
                << "wrote between the columns, at " << row << ", " << col;
    }
}

void expectProducts(const Case& c)
{
    for (const GemmArithmetic arithmetic : arithmetics()) {
        SCOPED_TRACE(fmt::format(
            "{} operands, {}x{}x{} {}{} {} x {} -> {} gap {}", arithmetic == GemmArithmetic::F32 ? "f32" : "bf16", c.m,
            c.n, c.k, c.transA ? 'T' : 'N', c.transB ? 'T' : 'N', toString(c.a), toString(c.b), toString(c.d), c.gap));
        expectProduct(c, arithmetic);
    }
}

struct Size {
    std::int64_t m, n, k;
};
constexpr Size kSizes[] = {{1, 1, 1},     {16, 16, 16}, {48, 80, 144}, {7, 13, 29},
                           {10, 33, 129}, {130, 1, 64}, {1, 65, 200}};

TEST(GemmTest, MultipliesBf16InEveryLayout)
{
    for (const Size& s : kSizes)
        for (const bool transA : {false, true})
            for (const bool transB : {false, true})
                for (const std::int64_t gap : {0, 3})
                    expectProducts({.m = s.m, .n = s.n, .k = s.k, .transA = transA, .transB = transB, .gap = gap});
}

TEST(GemmTest, AppliesDequantizationFactorsToFp8)
{
    for (const Size& s : kSizes)
        for (const auto& [a, b] :
             {std::pair{DType::E4m3, DType::E4m3}, {DType::E4m3, DType::E5m2}, {DType::E5m2, DType::E4m3}})
            for (const DType d : {DType::Bf16, DType::F32})
                expectProducts({.m = s.m, .n = s.n, .k = s.k, .a = a, .b = b, .d = d, .scaled = true});
}

TEST(GemmTest, AddsBiasBeforeTheOneRounding)
{
    for (const Size& s : kSizes)
        for (const bool scaled : {false, true})
            for (const DType operand : {DType::Bf16, DType::E4m3})
                expectProducts(
                    {.m = s.m, .n = s.n, .k = s.k, .a = operand, .b = operand, .scaled = scaled, .bias = true});
}

TEST(GemmTest, AccumulatesIntoD)
{
    for (const Size& s : kSizes)
        for (const DType d : {DType::Bf16, DType::F32})
            expectProducts({.m = s.m, .n = s.n, .k = s.k, .d = d, .bias = true, .alpha = -0.5F, .beta = 2, .gap = 1});
}

TEST(GemmTest, MultipliesF32WhateverTheArithmetic)
{
    expectProducts({.m = 31, .n = 17, .k = 50, .a = DType::F32, .b = DType::F32, .d = DType::F32, .bias = true});
}

TEST(GemmTest, DecodesEveryFp8CodeExactly)
{
    for (const DType format : {DType::E4m3, DType::E5m2}) {
        const GemmCall call = callFor({.m = 1, .n = 256, .k = 1, .a = DType::Bf16, .b = format, .d = DType::F32});
        Matrix one(call.a), codes(call.b), result(call.d);
        store(one.at(0), DType::Bf16, 1);
        for (int code = 0; code < 256; ++code)
            codes.bytes[static_cast<std::size_t>(code)] = static_cast<std::byte>(code);
        for (const GemmArithmetic arithmetic : arithmetics()) {
            GemmRunner runner(hereKernels(), arithmetic);
            runner.run(runner.prepare(call), {one.bytes.data(), codes.bytes.data(), result.bytes.data()});
            for (int code = 0; code < 256; ++code) {
                const float value = decodeFp8(static_cast<std::uint8_t>(code), format);
                if (std::isnan(value))
                    EXPECT_TRUE(std::isnan(result.value(0, code))) << code;
                else
                    EXPECT_EQ(result.value(0, code), value) << code;
            }
        }
    }
}

/// An operand's factors laid out for its mode: powers of two, or any.
std::vector<std::byte> randomFactors(const ScaleLayout& layout, bool powersOfTwo, std::uint64_t seed)
{
    const bool e8m0 = layout.mode == ScaleMode::Vec32Ue8m0;
    const auto count = static_cast<std::size_t>(layout.storedRows() * layout.storedCols());
    std::vector<std::byte> bytes(count * (e8m0 ? 1 : sizeof(float)));
    const RandomStream random(seed, 9);
    for (std::size_t i = 0; i < count; ++i) {
        const int exponent = static_cast<int>(random.bits(i) % 12) - 6;
        const float factor = powersOfTwo ? std::ldexp(1.0F, exponent) : random.uniform(i, 0.1F, 3);
        if (e8m0)
            bytes[i] = static_cast<std::byte>(127 + exponent);
        else
            std::memcpy(&bytes[i * sizeof(float)], &factor, sizeof factor);
    }
    return bytes;
}

double factorAt(const ScaleLayout& layout, const std::vector<std::byte>& bytes, std::int64_t outer, std::int64_t inner)
{
    const auto position =
        static_cast<std::size_t>(layout.index(outer / layout.outerBlock(), inner / layout.innerBlock()));
    if (layout.mode == ScaleMode::Vec32Ue8m0)
        return decodeE8m0(std::to_integer<std::uint8_t>(bytes[position]));
    return load(&bytes[position * sizeof(float)], DType::F32);
}

void expectScaledProduct(ScaleMode aMode, ScaleMode bMode, ScaleValues values, GemmArithmetic arithmetic)
{
    constexpr Case kCase{.m = 160, .n = 48, .k = 288, .a = DType::E4m3, .b = DType::E5m2, .d = DType::F32};
    GemmCall call = callFor(kCase);
    call.aScaleMode = aMode;
    call.bScaleMode = bMode;
    call.aScale = plan::TensorId(0);
    call.bScale = plan::TensorId(1);
    const ScaleLayout aLayout{aMode, kCase.m, kCase.k}, bLayout{bMode, kCase.n, kCase.k};
    const bool powersOfTwo = values == ScaleValues::PowersOfTwo;
    const std::vector<std::byte> aFactors = randomFactors(aLayout, powersOfTwo, 5),
                                 bFactors = randomFactors(bLayout, powersOfTwo, 6);
    const Matrix a(call.a, 1), b(call.b, 2);
    Matrix d(call.d, 3);
    GemmRunner runner(hereKernels(), arithmetic);
    runner.run(runner.prepare(call, values),
               {a.bytes.data(), b.bytes.data(), d.bytes.data(), aFactors.data(), bFactors.data()});
    for (std::int64_t row = 0; row < kCase.m; ++row)
        for (std::int64_t col = 0; col < kCase.n; ++col) {
            double sum = 0, magnitude = 0;
            for (std::int64_t l = 0; l < kCase.k; ++l) {
                const double product = a.value(row, l, true) * factorAt(aLayout, aFactors, row, l) * b.value(l, col) *
                                       factorAt(bLayout, bFactors, col, l);
                sum += product;
                magnitude += std::abs(product);
            }
            ASSERT_NEAR(d.value(row, col), sum, std::ldexp(static_cast<double>(kCase.k + 4) * magnitude, -24))
                << "at " << row << ", " << col;
        }
}

TEST(GemmTest, AppliesFactorsOfRowsAndBlocks)
{
    constexpr std::pair<ScaleMode, ScaleMode> kModes[] = {{ScaleMode::OuterVec32F, ScaleMode::OuterVec32F},
                                                          {ScaleMode::Vec128_32F, ScaleMode::Vec128_32F},
                                                          {ScaleMode::Blk128x128_32F, ScaleMode::Vec128_32F},
                                                          {ScaleMode::Vec128_32F, ScaleMode::Blk128x128_32F},
                                                          {ScaleMode::Vec32Ue8m0, ScaleMode::Vec32Ue8m0}};
    for (const auto& [a, b] : kModes)
        for (const ScaleValues values : {ScaleValues::PowersOfTwo, ScaleValues::Any})
            for (const GemmArithmetic arithmetic : arithmetics()) {
                SCOPED_TRACE(fmt::format("{} x {}, {}", plan::toString(a), plan::toString(b),
                                         values == ScaleValues::Any ? "any factors" : "powers of two"));
                expectScaledProduct(a, b, values, arithmetic);
            }
}

TEST(GemmTest, SharesScratchAndKeepsPreparedCallsApart)
{
    GemmRunner runner(hereKernels(), GemmArithmetic::F32);
    const GemmCall small = callFor({.m = 3, .n = 4, .k = 5}), large = callFor({.m = 30, .n = 40, .k = 50});
    const GemmHandle first = runner.prepare(small);
    const GemmHandle second = runner.prepare(large);
    const Matrix a(small.a, 1), b(small.b, 2), largeA(large.a, 3), largeB(large.b, 4);
    Matrix d(small.d), largeD(large.d), again(small.d);
    runner.run(first, {a.bytes.data(), b.bytes.data(), d.bytes.data()});
    runner.run(second, {largeA.bytes.data(), largeB.bytes.data(), largeD.bytes.data()});
    runner.run(first, {a.bytes.data(), b.bytes.data(), again.bytes.data()});
    EXPECT_EQ(d.bytes, again.bytes);
    std::vector<plan::Op> calls(2);
    calls[0].gemm = small;
    calls[1].gemm = large;
    EXPECT_EQ(runner.scratchBytes(), gemmScratchBytes(calls, GemmArithmetic::F32));
    EXPECT_GT(runner.libraryNs(), 0);
}

TEST(GemmTest, RefusesWhatItCannotCompute)
{
    GemmRunner runner(hereKernels(), GemmArithmetic::F32);
    EXPECT_THROW((void)runner.prepare(callFor({.m = 4, .n = 4, .k = 4, .d = DType::E4m3})), Error);
    GemmCall misfit = callFor({.m = 4, .n = 4, .k = 4});
    misfit.b.rows = 5;
    EXPECT_THROW((void)runner.prepare(misfit), Error);
}

}  // namespace
}  // namespace fp8scope::cpu

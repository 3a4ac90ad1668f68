// SPDX-License-Identifier: Apache-2.0
// Block quantizers against a plain reference that finds each block's amax, scale and codes one by one: every kind of
// block, both orientations, odd shapes, whole and in parts; and decoding, which undoes them.
#include "kernel_inputs.h"

#include <cstring>

namespace fp8scope::kernels {
namespace {

using namespace test;

constexpr BlockScaling kRules[] = {
    {.mode = ScaleMode::Vec128_32F, .format = DType::E4m3, .powerOfTwo = true},
    {.mode = ScaleMode::Vec128_32F, .format = DType::E5m2, .powerOfTwo = false, .minAmax = 0.5F},
    {.mode = ScaleMode::Blk128x128_32F, .format = DType::E4m3, .powerOfTwo = true},
    {.mode = ScaleMode::Blk128x128_32F, .format = DType::E4m3, .powerOfTwo = false},
    {.mode = ScaleMode::Vec32Ue8m0, .format = DType::E4m3, .rounding = E8m0Rounding::Rceil, .swizzled = true},
    {.mode = ScaleMode::Vec32Ue8m0, .format = DType::E4m3, .rounding = E8m0Rounding::Floor, .swizzled = false},
    {.mode = ScaleMode::Vec32Ue8m0, .format = DType::E5m2, .rounding = E8m0Rounding::Rceil, .swizzled = true},
};

std::string nameOf(const BlockScaling& rule)
{
    return "mode " + std::to_string(static_cast<int>(rule.mode)) + " " + std::string(toString(rule.format)) +
           (rule.powerOfTwo ? " power of two" : "") + (rule.swizzled ? " swizzled" : "");
}

/// A quantized operand of outer x inner elements.
struct Operand {
    ScaleLayout layout;
    std::vector<Fp8> q;
    std::vector<std::uint8_t> scales;
    CastCounts counts;
    float amax = 0;

    Operand(const BlockScaling& rule, std::int64_t outer, std::int64_t inner)
        : layout{rule.mode, outer, inner, rule.swizzled}, q(static_cast<std::size_t>(outer * inner)),
          scales(static_cast<std::size_t>(layout.storedRows() * layout.storedCols()) *
                 (rule.mode == ScaleMode::Vec32Ue8m0 ? 1 : 4))
    {}
};

/// Calls visit(outer, inner) for the elements of a block.
template <class Visit>
void forBlock(const ScaleLayout& layout, std::int64_t outerBlock, std::int64_t innerBlock, const Visit& visit)
{
    for (std::int64_t o = outerBlock * layout.outerBlock();
         o < std::min(layout.outer, (outerBlock + 1) * layout.outerBlock()); ++o)
        for (std::int64_t i = innerBlock * layout.innerBlock();
             i < std::min(layout.inner, (innerBlock + 1) * layout.innerBlock()); ++i)
            visit(o, i);
}

/// `at(outer, inner)` gives the element to quantize.
template <class At>
Operand reference(const BlockScaling& rule, std::int64_t outer, std::int64_t inner, const At& at)
{
    Operand result(rule, outer, inner);
    const ScaleLayout& layout = result.layout;
    for (std::int64_t ob = 0; ob < layout.outerBlocks(); ++ob)
        for (std::int64_t ib = 0; ib < layout.innerBlocks(); ++ib) {
            float amax = 0;
            forBlock(layout, ob, ib, [&](std::int64_t o, std::int64_t i) { amax = maxAmax(amax, std::abs(at(o, i))); });
            float scale = 0;
            if (rule.mode == ScaleMode::Vec32Ue8m0) {
                const std::uint8_t code = e8m0FromAmax(amax, rule.format, rule.rounding);
                result.scales[static_cast<std::size_t>(layout.index(ob, ib))] = code;
                scale = scaleOfE8m0(code);
            } else {
                scale = blockScale(amax, rule.format, rule.minAmax, rule.powerOfTwo);
                const float inverse = 1 / scale;
                std::memcpy(&result.scales[static_cast<std::size_t>(layout.index(ob, ib)) * 4], &inverse, 4);
            }
            forBlock(layout, ob, ib, [&](std::int64_t o, std::int64_t i) {
                result.q[static_cast<std::size_t>(o * inner + i)] =
                    quantize(at(o, i), scale, rule.format, result.counts);
            });
            result.amax = maxAmax(result.amax, amax);
        }
    return result;
}

enum class Wanted : std::uint8_t { Upright, Transposed, Both };

/// What the kernels must make of x.
struct Reference {
    BlockScaling rule;
    RowRange shape;
    std::vector<Bf16> x;
    Operand upright, transposed;

    Reference(const BlockScaling& scaling, const RowRange& matrix, std::vector<Bf16> values)
        : rule(scaling), shape(matrix), x(std::move(values)),
          upright(reference(rule, shape.rows, shape.cols, [&](auto r, auto c) { return value(r, c); })),
          transposed(reference(rule, shape.cols, shape.rows, [&](auto r, auto c) { return value(c, r); }))
    {}
    [[nodiscard]] float value(std::int64_t r, std::int64_t c) const
    {
        return decodeBf16(x[static_cast<std::size_t>(r * shape.cols + c)]);
    }
};

class BlockCastKernels : public EveryLevel {
protected:
    void expectAsReference(const Reference& expected, Wanted wanted, std::int64_t rowsEach)
    {
        const RowRange& shape = expected.shape;
        Operand q(expected.rule, shape.rows, shape.cols), qT(expected.rule, shape.cols, shape.rows);
        CastResult result;
        for (const RowRange& part : parts(shape, rowsEach)) {
            BlockCastArgs args{.x = expected.x.data(), .scaling = expected.rule, .part = part};
            if (wanted != Wanted::Transposed) {
                args.q = q.q.data();
                args.scales = q.scales.data();
            }
            if (wanted != Wanted::Upright) {
                args.qTransposed = qT.q.data();
                args.scalesTransposed = qT.scales.data();
            }
            const CastResult cast = kernels.blockCast(args);
            result.amax = maxAmax(result.amax, cast.amax);
            result.counts += cast.counts;
        }
        if (wanted != Wanted::Transposed) {
            EXPECT_EQ(q.q, expected.upright.q);
            EXPECT_EQ(q.scales, expected.upright.scales);
        }
        if (wanted != Wanted::Upright) {
            EXPECT_EQ(qT.q, expected.transposed.q);
            EXPECT_EQ(qT.scales, expected.transposed.scales);
        }
        EXPECT_EQ(result.counts, (wanted == Wanted::Transposed ? expected.transposed : expected.upright).counts);
        if (std::isnan(expected.upright.amax))
            EXPECT_TRUE(std::isnan(result.amax));
        else
            EXPECT_EQ(result.amax, expected.upright.amax);
    }
};

TEST_P(BlockCastKernels, GiveTheReferencesCodesAndScales)
{
    for (const BlockScaling& rule : kRules)
        for (const RowRange& shape : kShapes) {
            SCOPED_TRACE(testing::Message() << nameOf(rule) << ", " << shape.rows << " x " << shape.cols);
            const Reference expected(rule, shape, randomBf16(static_cast<std::size_t>(shape.rows * shape.cols), 11));
            for (const Wanted wanted : {Wanted::Upright, Wanted::Transposed, Wanted::Both})
                for (const std::int64_t rowsEach : {shape.rows, kScaleBlock})
                    expectAsReference(expected, wanted, rowsEach);
        }
}

TEST_P(BlockCastKernels, CarrySpecialValues)
{
    constexpr RowRange kShape{.rows = 200, .cols = 144, .begin = 0, .end = 200};
    for (const BlockScaling& rule : kRules) {
        SCOPED_TRACE(nameOf(rule));
        const Reference special(rule, kShape, specialBf16(200 * 144, 12));
        const Reference zeros(rule, kShape, std::vector<Bf16>(200 * 144, 0));
        for (const Wanted wanted : {Wanted::Upright, Wanted::Transposed, Wanted::Both}) {
            expectAsReference(special, wanted, kScaleBlock);
            expectAsReference(zeros, wanted, kScaleBlock);
        }
    }
}

TEST_P(BlockCastKernels, ApplyAnActivationFirst)
{
    constexpr RowRange kShape{.rows = 200, .cols = 144, .begin = 0, .end = 200};
    const Activation gelu = makeActivation(ActivationKind::Gelu);
    const std::vector<Bf16> z = randomBf16(200 * 144, 13);
    std::vector<Bf16> a(z.size());
    kernels.actForward(gelu, z, a);
    const BlockScaling rule = kRules[0];
    Operand fused(rule, 200, 144), plain(rule, 200, 144);
    BlockCastArgs args{
        .x = a.data(), .scaling = rule, .part = kShape, .q = plain.q.data(), .scales = plain.scales.data()};
    kernels.blockCast(args);
    args.x = z.data();
    args.activation = &gelu;
    args.q = fused.q.data();
    args.scales = fused.scales.data();
    kernels.blockCast(args);
    EXPECT_EQ(fused.q, plain.q);
    EXPECT_EQ(fused.scales, plain.scales);
}

TEST_P(BlockCastKernels, DecodingMultipliesEachCodeWithItsFactor)
{
    for (const BlockScaling& rule : kRules)
        for (const RowRange& shape : kShapes) {
            SCOPED_TRACE(testing::Message() << nameOf(rule) << ", " << shape.rows << " x " << shape.cols);
            const std::vector<Bf16> x = randomBf16(static_cast<std::size_t>(shape.rows * shape.cols), 14);
            const auto value = [&](std::int64_t r, std::int64_t c) {
                return decodeBf16(x[static_cast<std::size_t>(r * shape.cols + c)]);
            };
            const Operand operand = reference(rule, shape.rows, shape.cols, value);
            const ScaledOperand source{operand.q.data(), rule.format, operand.layout, operand.scales.data()};
            std::vector<float> y(x.size());
            std::vector<Bf16> narrow(x.size());
            for (const RowRange& part : parts(shape, kRowBlock)) {
                kernels.decodeScaled(source, part.begin, part.end, y.data());
                kernels.decodeScaledToBf16(source, part.begin, part.end, narrow.data());
            }
            for (std::int64_t o = 0; o < shape.rows; ++o)
                for (std::int64_t i = 0; i < shape.cols; ++i) {
                    const std::int64_t position =
                        operand.layout.index(o / operand.layout.outerBlock(), i / operand.layout.innerBlock());
                    float factor = 0;
                    if (rule.mode == ScaleMode::Vec32Ue8m0)
                        factor = decodeE8m0(operand.scales[static_cast<std::size_t>(position)]);
                    else
                        std::memcpy(&factor, &operand.scales[static_cast<std::size_t>(position) * 4], 4);
                    const auto e = static_cast<std::size_t>(o * shape.cols + i);
                    const float expected = decodeFp8(operand.q[e], rule.format) * factor;
                    ASSERT_EQ(y[e], expected);
                    if (rule.powerOfTwo || rule.mode == ScaleMode::Vec32Ue8m0) {
                        ASSERT_EQ(decodeBf16(narrow[e]), expected);
                    }
                }
        }
}

INSTANTIATE_TEST_SUITE_P(Levels, BlockCastKernels, testing::ValuesIn(availableLevels()),
                         [](const auto& test) { return std::string(toString(test.param)); });

}  // namespace
}  // namespace fp8scope::kernels

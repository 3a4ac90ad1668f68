// SPDX-License-Identifier: Apache-2.0
// Transposing kernels against the plain cast and a plain transpose, whole and split into parts.
#include "kernel_inputs.h"

namespace fp8scope::kernels {
namespace {

using namespace test;

std::vector<Fp8> transposed(std::span<const Fp8> q, const RowRange& shape)
{
    std::vector<Fp8> t(q.size());
    const auto rows = static_cast<std::size_t>(shape.rows), cols = static_cast<std::size_t>(shape.cols);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < cols; ++c)
            t[c * rows + r] = q[r * cols + c];
    return t;
}

struct Result {
    std::vector<Fp8> q, qT;
    float amax = 0;
    CastCounts counts;
    std::vector<float> partials;
};

std::size_t elements(const RowRange& shape) { return static_cast<std::size_t>(shape.rows * shape.cols); }

/// Runs `kernel` over the parts and puts their results together.
template <class Kernel>
Result runInParts(const RowRange& shape, std::int64_t rowsEach, std::span<const Bf16> x, DType format, bool sums,
                  const Kernel& kernel)
{
    Result result;
    result.q.resize(elements(shape));
    result.qT.resize(elements(shape));
    result.partials.resize(sums ? static_cast<std::size_t>(columnSumBlocks(shape.rows) * shape.cols) : 0);
    for (const RowRange& part : parts(shape, rowsEach)) {
        const CastResult cast = kernel(CastTransposeArgs{.x = x.data(),
                                                         .scale = 3.3F,
                                                         .format = format,
                                                         .part = part,
                                                         .q = result.q.data(),
                                                         .qTransposed = result.qT.data(),
                                                         .columnPartials = sums ? result.partials.data() : nullptr});
        result.amax = maxAmax(result.amax, cast.amax);
        result.counts += cast.counts;
    }
    return result;
}

class CastTransposeKernels : public EveryLevel {
protected:
    void expectCastAndTransposeOf(const Result& result, std::span<const Bf16> x, DType format,
                                  const RowRange& shape) const
    {
        std::vector<Fp8> q(x.size());
        const CastResult cast = kernels.cast(x, 3.3F, format, q);
        EXPECT_EQ(result.q, q);
        EXPECT_EQ(result.qT, transposed(q, shape));
        EXPECT_EQ(result.counts, cast.counts);
        EXPECT_EQ(result.amax, cast.amax);
    }
};

TEST_P(CastTransposeKernels, TransposeMovesEveryByte)
{
    for (const RowRange& shape : kShapes) {
        std::vector<Fp8> q(elements(shape)), qT(elements(shape));
        std::iota(q.begin(), q.end(), Fp8{0});
        for (const RowRange& part : parts(shape, kRowBlock))
            kernels.transpose(q.data(), part, qT.data());
        EXPECT_EQ(qT, transposed(q, shape)) << shape.rows << " x " << shape.cols;
    }
}

TEST_P(CastTransposeKernels, GivesTheCastAndItsTransposeWholeAndInParts)
{
    for (const RowRange& shape : kShapes)
        for (const DType format : {DType::E4m3, DType::E5m2})
            for (const std::int64_t rowsEach : {shape.rows, kRowBlock}) {
                SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.cols);
                const std::vector<Bf16> x = randomBf16(elements(shape), 5);
                expectCastAndTransposeOf(runInParts(shape, rowsEach, x, format, false, kernels.castTranspose), x,
                                         format, shape);
            }
}

TEST_P(CastTransposeKernels, CarriesSpecialValues)
{
    constexpr RowRange kShape{.rows = 130, .cols = 70, .begin = 0, .end = 130};
    const std::vector<Bf16> x = specialBf16(elements(kShape), 6);
    std::vector<Fp8> q(x.size());
    const CastResult cast = kernels.cast(x, 3.3F, DType::E5m2, q);
    const Result result = runInParts(kShape, kShape.rows, x, DType::E5m2, true, kernels.castTranspose);
    EXPECT_EQ(result.q, q);
    EXPECT_EQ(result.qT, transposed(q, kShape));
    EXPECT_EQ(result.counts, cast.counts);
    EXPECT_TRUE(std::isnan(result.amax) && std::isnan(cast.amax));
}

TEST_P(CastTransposeKernels, FusedColumnSumsAreBitwiseThoseOfBiasGrad)
{
    for (const RowRange& shape : kShapes) {
        const std::vector<Bf16> x = randomBf16(elements(shape), 8);
        const Result fused = runInParts(shape, kRowBlock, x, DType::E5m2, true, kernels.castTranspose);
        expectCastAndTransposeOf(fused, x, DType::E5m2, shape);
        std::vector<float> partials(fused.partials.size());
        kernels.biasGrad(x.data(), shape, partials.data());
        EXPECT_EQ(fused.partials, partials) << shape.rows << " x " << shape.cols;
    }
}

TEST_P(CastTransposeKernels, FusedActivationIsTheActivationThenTheCast)
{
    for (const ActivationKind kind : {ActivationKind::Relu, ActivationKind::Gelu}) {
        const Activation activation = makeActivation(kind);
        for (const RowRange& shape : kShapes) {
            const std::vector<Bf16> z = randomBf16(elements(shape), 9);
            std::vector<Bf16> a(z.size());
            kernels.actForward(activation, z, a);
            const Result fused =
                runInParts(shape, kRowBlock, z, DType::E4m3, false,
                           [&](const CastTransposeArgs& args) { return kernels.actCastTranspose(activation, args); });
            expectCastAndTransposeOf(fused, a, DType::E4m3, shape);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, CastTransposeKernels, testing::ValuesIn(availableLevels()),
                         [](const auto& test) { return std::string(toString(test.param)); });

}  // namespace
}  // namespace fp8scope::kernels

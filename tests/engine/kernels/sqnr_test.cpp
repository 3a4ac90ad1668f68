// SPDX-License-Identifier: Apache-2.0
// What each quantizer costs in precision: measured on normal data and on data with outliers, against the error that
// rounding has in theory. The figures are those of resources/help/recipes.md, where the theory is derived.
#include "engine/kernels/cpu_kernels.h"
#include "engine/numerics/scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace fp8scope::kernels {
namespace {

constexpr std::int64_t kRows = 512, kCols = 4096;
constexpr std::size_t kElements = static_cast<std::size_t>(kRows * kCols);
constexpr std::size_t kOutlierEvery = 16384;  // one in four rows
constexpr float kOutlier = 65536;             // times as large as the others

const CpuKernels& kernelsHere() { return cpuKernels(vectorLevelFor("")); }

bool isOutlierPlace(std::size_t i) { return i % kOutlierEvery == kOutlierEvery / 2; }

std::vector<Bf16> normalData(bool outliers)
{
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<Bf16> x(kElements);
    for (std::size_t i = 0; i < kElements; ++i)
        x[i] = encodeBf16(outliers && isOutlierPlace(i) ? kOutlier : normal(random));
    return x;
}

/// A quantized tensor: its values, scales undone, and the scale of each block in turn with the block's amax.
struct Quantized {
    std::vector<float> values;
    struct Block {
        float scale = 1, amax = 0;
        double elements = 0;
    };
    std::vector<Block> blocks;
};

using Quantizer = std::function<Quantized(const std::vector<Bf16>&)>;

/// One scale for every `each` elements in turn: a tensor or its rows.
Quantizer scalesForParts(DType format, std::size_t each, bool powerOfTwo)
{
    return [=](const std::vector<Bf16>& x) {
        Quantized result{.values = std::vector<float>(x.size()), .blocks = {}};
        std::vector<Fp8> q(each);
        for (std::size_t i = 0; i < x.size(); i += each) {
            const std::span part(x.data() + i, each);
            const float amax = kernelsHere().amax(part);
            const float exact = tensorwiseScale(amax, format);
            const float scale = powerOfTwo ? powerOfTwoScale(exact) : exact;
            kernelsHere().cast(part, scale, format, q);
            kernelsHere().decodeFp8(q, format, 1 / scale, {result.values.data() + i, each});
            result.blocks.push_back({scale, amax, static_cast<double>(each)});
        }
        return result;
    };
}

Quantizer scalesForBlocks(const BlockScaling& rule)
{
    return [=](const std::vector<Bf16>& x) {
        const ScaleLayout layout{rule.mode, kRows, kCols, rule.swizzled};
        const bool e8m0 = rule.mode == ScaleMode::Vec32Ue8m0;
        std::vector<Fp8> q(x.size());
        std::vector<std::uint8_t> factors(
            static_cast<std::size_t>(layout.storedRows() * layout.storedCols() * (e8m0 ? 1 : 4)));
        kernelsHere().blockCast({.x = x.data(),
                                 .scaling = rule,
                                 .part = {.rows = kRows, .cols = kCols, .begin = 0, .end = kRows},
                                 .q = q.data(),
                                 .scales = factors.data()});
        Quantized result{.values = std::vector<float>(x.size()), .blocks = {}};
        kernelsHere().decodeScaled({q.data(), rule.format, layout, factors.data()}, 0, kRows, result.values.data());
        for (std::int64_t o = 0; o < layout.outerBlocks(); ++o)
            for (std::int64_t i = 0; i < layout.innerBlocks(); ++i) {
                float amax = 0;
                for (std::int64_t r = o * layout.outerBlock(); r < (o + 1) * layout.outerBlock(); ++r)
                    amax = std::max(amax, kernelsHere().amax({x.data() + r * kCols + i * layout.innerBlock(),
                                                              static_cast<std::size_t>(layout.innerBlock())}));
                const float scale = e8m0 ? scaleOfE8m0(e8m0FromAmax(amax, rule.format, rule.rounding))
                                         : blockScale(amax, rule.format, rule.minAmax, rule.powerOfTwo);
                result.blocks.push_back({scale, amax, static_cast<double>(layout.outerBlock() * layout.innerBlock())});
            }
        return result;
    };
}

double decibels(double signal, double noise) { return 10 * std::log10(signal / noise); }

/// Signal over quantization noise of the elements that are no outliers.
double measured(const std::vector<Bf16>& x, const Quantized& quantized, bool outliers)
{
    double signal = 0, noise = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (outliers && isOutlierPlace(i))
            continue;
        const double value = decodeBf16(x[i]), error = quantized.values[i] - value;
        signal += value * value;
        noise += error * error;
    }
    return decibels(signal, noise);
}

/// P(|x| < t) of standard normal data.
double within(double t) { return std::erf(t / std::sqrt(2.0)); }

/// Mean squared error of rounding standard normal values below `amax`, times `scale`, to the format: uniform over the
/// step of the binade that a value falls into.
double roundingError(DType format, double scale, double amax)
{
    const Fp8Traits f = fp8Traits(format);
    const auto stepNoise = [&](int exponent) { return std::ldexp(1.0, 2 * (exponent - f.mantissaBits)) / 12; };
    const double all = within(amax);
    double error = within(std::min(std::ldexp(1.0, f.minExponent) / scale, amax)) * stepNoise(f.minExponent);
    for (int e = f.minExponent; std::ldexp(1.0, e) < scale * amax; ++e) {
        const double low = within(std::ldexp(1.0, e) / scale);
        const double high = within(std::min(std::ldexp(1.0, e + 1) / scale, amax));
        error += (high - low) * stepNoise(e);
    }
    return error / all / (scale * scale);
}

/// The block's largest element lies somewhere in its last binade, or beyond the largest code, where it saturates.
double theory(DType format, const Quantized& quantized)
{
    double noise = 0, elements = 0;
    for (const Quantized::Block& block : quantized.blocks) {
        const double top = double{block.scale} * block.amax;
        const double step = std::exp2(std::floor(std::log2(top)) - fp8Traits(format).mantissaBits);
        const double clipped = std::max(0.0, top - double{fp8Max(format)});
        const double largest = std::max(clipped * clipped, step * step / 12) / (double{block.scale} * block.scale);
        noise += (block.elements - 1) * roundingError(format, block.scale, block.amax) + largest;
        elements += block.elements;
    }
    return decibels(1, noise / elements);
}

struct Row {
    std::string name;
    DType format = DType::E4m3;
    Quantizer quantize;
};

std::vector<Row> rows()
{
    const auto blocks = [](ScaleMode mode, E8m0Rounding rounding = E8m0Rounding::Rceil) {
        return scalesForBlocks({.mode = mode, .format = DType::E4m3, .powerOfTwo = true, .rounding = rounding});
    };
    const auto row = static_cast<std::size_t>(kCols);
    return {
        {"tensorwise, e4m3", DType::E4m3, scalesForParts(DType::E4m3, kElements, false)},
        {"tensorwise, e5m2", DType::E5m2, scalesForParts(DType::E5m2, kElements, false)},
        {"rowwise, e4m3", DType::E4m3, scalesForParts(DType::E4m3, row, true)},
        {"blockwise 128x128, e4m3", DType::E4m3, blocks(ScaleMode::Blk128x128_32F)},
        {"blockwise 1x128, e4m3", DType::E4m3, blocks(ScaleMode::Vec128_32F)},
        {"mxfp8, rceil, e4m3", DType::E4m3, blocks(ScaleMode::Vec32Ue8m0)},
        {"mxfp8, floor, e4m3", DType::E4m3, blocks(ScaleMode::Vec32Ue8m0, E8m0Rounding::Floor)},
    };
}

std::string helpPage()
{
    std::stringstream text;
    text << std::ifstream(FP8SCOPE_RECIPES_HELP).rdbuf();
    return text.str();
}

TEST(SqnrTest, EveryQuantizerIsAsGoodAsTheoryAndTheHelpShowsItsFigures)
{
    const std::vector<Bf16> normal = normalData(false), outliers = normalData(true);
    const std::string help = helpPage();
    for (const Row& row : rows()) {
        const Quantized ordinary = row.quantize(normal);
        const double expected = theory(row.format, ordinary), found = measured(normal, ordinary, false);
        const double beside = measured(outliers, row.quantize(outliers), true);
        EXPECT_NEAR(found, expected, 0.5) << row.name;
        char line[160];
        std::snprintf(line, sizeof line, "| %s | %.1f | %.1f | %.1f |", row.name.c_str(), expected, found, beside);
        std::puts(line);
        EXPECT_NE(help.find(line), std::string::npos) << "not in resources/help/recipes.md: " << line;
    }
}

TEST(SqnrTest, OneScaleForATensorLosesWhatBlocksKeepBesideOutliers)
{
    const std::vector<Bf16> normal = normalData(false), outliers = normalData(true);
    const std::vector<Row> all = rows();
    const Quantizer& tensorwise = all[0].quantize;
    const Quantizer& mxfp8 = all[5].quantize;
    const double loss = measured(normal, tensorwise(normal), false) - measured(outliers, tensorwise(outliers), true);
    EXPECT_GT(loss, 8);
    EXPECT_GT(measured(outliers, mxfp8(outliers), true), measured(outliers, tensorwise(outliers), true) + 8);
}

}  // namespace
}  // namespace fp8scope::kernels

// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/constants.h"

#include <array>

namespace fp8scope::predict {
namespace {

constexpr std::array kGemmParameters{
    Parameter<GemmConstants>{"floor_us", &GemmConstants::floorUs, 0.1, 6},
    Parameter<GemmConstants>{"peak_fraction", &GemmConstants::peakFraction, 0.3, 1.02},
    Parameter<GemmConstants>{"sustained", &GemmConstants::sustained, 0.4, 1},
    Parameter<GemmConstants>{"throttle_us", &GemmConstants::throttleUs, 20, 10000},
    Parameter<GemmConstants>{"steady", &GemmConstants::steady, 0.4, 1},
    Parameter<GemmConstants>{"sm_gbs", &GemmConstants::smGBs, 10, 1000},
    Parameter<GemmConstants>{"l2_gbs", &GemmConstants::l2GBs, 500, 40000},
    Parameter<GemmConstants>{"dram_fraction", &GemmConstants::dramFraction, 0.4, 1},
    Parameter<GemmConstants>{"tile_us", &GemmConstants::tileUs, 0.02, 5},
    Parameter<GemmConstants>{"tile_area_us", &GemmConstants::tileAreaUs, 0.05, 8},
    Parameter<GemmConstants>{"overlap", &GemmConstants::overlap, 0.02, 1},
    Parameter<GemmConstants>{"k_step_us", &GemmConstants::kStepUs, 1e-4, 0.3},
    Parameter<GemmConstants>{"split_us", &GemmConstants::splitUs, 0.1, 8},
    Parameter<GemmConstants>{"reduction_gbs", &GemmConstants::reductionGBs, 200, 20000},
    Parameter<GemmConstants>{"l2_share", &GemmConstants::l2Share, 0.05, 3},
    Parameter<GemmConstants>{"warm_share", &GemmConstants::warmShare, 0.05, 3},
    Parameter<GemmConstants>{"reread_share", &GemmConstants::rereadShare, 0.02, 1.5},
};

constexpr std::array kQuantizerParameters{
    Parameter<QuantizerConstants>{"floor_us", &QuantizerConstants::floorUs, 0.3, 40},
    Parameter<QuantizerConstants>{"dram_fraction", &QuantizerConstants::dramFraction, 0.03, 1},
    Parameter<QuantizerConstants>{"l2_boost", &QuantizerConstants::l2Boost, 1, 12},
    Parameter<QuantizerConstants>{"l2_share", &QuantizerConstants::l2Share, 0.02, 3},
    Parameter<QuantizerConstants>{"row_us", &QuantizerConstants::rowUs, 1e-4, 50},
    Parameter<QuantizerConstants>{"row_us_per_k", &QuantizerConstants::rowUsPerK, 1e-7, 0.05},
    Parameter<QuantizerConstants>{"rows_per_sm", &QuantizerConstants::rowsPerSm, 0.5, 32},
};

constexpr std::array<std::string_view, kGemmKinds> kGemmWords{"bf16", "tensorwise", "rowwise", "blockwise", "mxfp8"};
constexpr std::array<std::string_view, kQuantizerKinds> kQuantizerWords{"cast", "tensorwise", "rowwise", "blockwise",
                                                                        "mxfp8"};

template <typename Kind, std::size_t N>
std::optional<Kind> kindOf(const std::array<std::string_view, N>& words, std::string_view word)
{
    for (std::size_t i = 0; i < N; ++i) {
        if (words[i] == word)
            return static_cast<Kind>(i);
    }
    return std::nullopt;
}

}  // namespace

std::span<const Parameter<GemmConstants>> gemmParameters() { return kGemmParameters; }
std::span<const Parameter<QuantizerConstants>> quantizerParameters() { return kQuantizerParameters; }

double bytesPerElement(QuantizerKind kind)
{
    switch (kind) {
    case QuantizerKind::Cast: return 3;
    case QuantizerKind::Tensorwise: return 5;
    case QuantizerKind::Rowwise: return 3;
    case QuantizerKind::Blockwise: return 3 + 4.0 / 128;
    case QuantizerKind::Mxfp8: return 3 + 1.0 / 32;
    }
    return 3;
}

std::string_view toString(GemmKind kind) { return kGemmWords[static_cast<std::size_t>(kind)]; }
std::string_view toString(QuantizerKind kind) { return kQuantizerWords[static_cast<std::size_t>(kind)]; }
std::optional<GemmKind> gemmKindFromString(std::string_view word) { return kindOf<GemmKind>(kGemmWords, word); }
std::optional<QuantizerKind> quantizerKindFromString(std::string_view word)
{
    return kindOf<QuantizerKind>(kQuantizerWords, word);
}

}  // namespace fp8scope::predict

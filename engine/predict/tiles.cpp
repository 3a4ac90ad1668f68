// SPDX-License-Identifier: Apache-2.0
// Which tiles a library really has is not documented; these menus were found by starting from all tiles that fit an SM
// and dropping, one after the other, those without which the measured times are explained no worse.
#include "engine/predict/tiles.h"

#include <array>

namespace fp8scope::predict {
namespace {

constexpr std::array kSimple{Tile{256, 128}, Tile{128, 256}, Tile{128, 128},
                             Tile{128, 64},  Tile{64, 128},  Tile{64, 64}};

constexpr std::array kHopper{Tile{192, 256}, Tile{192, 224}, Tile{224, 192}, Tile{160, 256}, Tile{256, 160},
                             Tile{192, 192}, Tile{128, 256}, Tile{160, 192}, Tile{224, 128}, Tile{96, 256},
                             Tile{160, 128}, Tile{128, 128}, Tile{64, 256},  Tile{128, 96},  Tile{160, 64},
                             Tile{64, 128},  Tile{96, 64},   Tile{64, 64}};

constexpr std::array kBlackwell{Tile{256, 256}, Tile{192, 192}, Tile{256, 128}, Tile{160, 192}, Tile{96, 256},
                                Tile{192, 128}, Tile{128, 160}, Tile{160, 128}, Tile{128, 128}, Tile{256, 64},
                                Tile{64, 256},  Tile{64, 224},  Tile{96, 128},  Tile{128, 64},  Tile{64, 64}};

constexpr std::array kCutlass{Tile{192, 256}, Tile{256, 192}, Tile{256, 128}, Tile{128, 256},
                              Tile{192, 128}, Tile{128, 192}, Tile{160, 128}, Tile{128, 160},
                              Tile{256, 64},  Tile{64, 256},  Tile{128, 128}, Tile{96, 128},
                              Tile{128, 96},  Tile{128, 64},  Tile{64, 128},  Tile{64, 64}};

}  // namespace

std::span<const Tile> tileMenu(std::string_view name)
{
    if (name == "simple")
        return kSimple;
    if (name == "hopper")
        return kHopper;
    if (name == "blackwell")
        return kBlackwell;
    if (name == "cutlass")
        return kCutlass;
    return {};
}

}  // namespace fp8scope::predict

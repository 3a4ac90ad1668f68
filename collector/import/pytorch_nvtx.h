// SPDX-License-Identifier: Apache-2.0
// The ops that PyTorch writes into NVTX ranges under torch.autograd.profiler.emit_nvtx().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fp8scope::import {

struct NvtxOp {
    std::string_view name;             ///< "aten::addmm"; views into the range's text
    std::int64_t sequenceNumber = -1;  ///< autograd's
    std::string_view shapes;           ///< "[[4096, 4096], [4096, 128]]"; empty unless shapes were recorded
};

/// Of "aten::addmm, seq = 47722, op_id = 999777, sizes = [[1], [2, 3]], input_op_ids = [(1,0)]"; nullopt for a range of
/// anything else.
[[nodiscard]] std::optional<NvtxOp> parseNvtxOp(std::string_view range);

}  // namespace fp8scope::import

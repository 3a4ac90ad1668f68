// SPDX-License-Identifier: Apache-2.0
#include "collector/import/pytorch_nvtx.h"

#include <charconv>

namespace fp8scope::import {
namespace {

/// What follows ", key = "; empty where the key is not there.
std::string_view valueOf(std::string_view text, std::string_view key)
{
    const std::size_t at = text.find(key);
    return at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
}

std::optional<std::int64_t> leadingNumber(std::string_view text)
{
    std::int64_t number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc())
        return std::nullopt;
    return number;
}

}  // namespace

std::optional<NvtxOp> parseNvtxOp(std::string_view range)
{
    const std::optional<std::int64_t> sequence = leadingNumber(valueOf(range, ", seq = "));
    const bool hasId = leadingNumber(valueOf(range, ", op_id = ")).has_value();
    if (!sequence && !hasId)
        return std::nullopt;
    NvtxOp op;
    op.name = range.substr(0, range.find(", "));
    op.sequenceNumber = sequence.value_or(-1);
    op.shapes = valueOf(range, ", sizes = ");
    op.shapes = op.shapes.substr(0, op.shapes.find(", input_op_ids"));
    if (op.name.empty())
        return std::nullopt;
    return op;
}

}  // namespace fp8scope::import

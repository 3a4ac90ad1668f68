// SPDX-License-Identifier: Apache-2.0
// Amaxes, scales and factors of the whole of a matrix, of its rows or of its columns: the shape of their tensor says
// which.
#pragma once

#include "engine/cpu/op_context.h"

namespace fp8scope::cpu {

enum class Granularity : std::uint8_t { Tensor, Row, Column };

/// What `numbers` holds a number for. The matrix has two rows and columns or more.
[[nodiscard]] inline Granularity granularityOf(const plan::Tensor& matrix, const plan::Tensor& numbers)
{
    if (numbers.elements() == 1)
        return Granularity::Tensor;
    return numbers.cols == 1 && numbers.rows == matrix.rows ? Granularity::Row : Granularity::Column;
}

/// Rows of a matrix that are worth a thread.
[[nodiscard]] inline std::int64_t rowGrain(std::int64_t cols)
{
    return std::max<std::int64_t>(1, kElementGrain / std::max<std::int64_t>(1, cols));
}

}  // namespace fp8scope::cpu

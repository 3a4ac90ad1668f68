// SPDX-License-Identifier: Apache-2.0
// The kernels in vectors of 16 bytes; CMakeLists.txt names the instruction set that this file is compiled for.
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/levels.h"

namespace fp8scope::kernels {

const CpuKernels& portableKernels()
{
    static constexpr CpuKernels kTable = makeKernels<16>(VectorLevel::Portable);
    return kTable;
}

}  // namespace fp8scope::kernels

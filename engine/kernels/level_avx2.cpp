// SPDX-License-Identifier: Apache-2.0
// The kernels in vectors of 32 bytes; CMakeLists.txt names the instruction set that this file is compiled for.
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/levels.h"

namespace fp8scope::kernels {

const CpuKernels& avx2Kernels()
{
    static constexpr CpuKernels kTable = makeKernels<32>(VectorLevel::Avx2);
    return kTable;
}

}  // namespace fp8scope::kernels

// SPDX-License-Identifier: Apache-2.0
// The tables of the levels that this build has, each compiled for its instruction set.
#pragma once

#include "engine/kernels/cpu_kernels.h"

namespace fp8scope::kernels {

const CpuKernels& portableKernels();
#if defined(__x86_64__)
const CpuKernels& avx2Kernels();
const CpuKernels& avx512Kernels();
#endif

}  // namespace fp8scope::kernels

// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/aligned_bytes.h"

#include "collector/trace/error.h"

#include <fmt/format.h>
#include <sys/mman.h>

namespace fp8scope::cpu {

AlignedBytes::AlignedBytes(std::size_t size) : m_size(size)
{
    if (size == 0)
        return;
    void* const begin = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED)
        throw Error(fmt::format("the system refused {} bytes of memory", size), "CPU executor",
                    "lower the batch or the layer widths");
    ::madvise(begin, size, MADV_HUGEPAGE);  // fewer page faults and TLB misses; refused without harm where unknown
    m_begin = static_cast<std::byte*>(begin);
}

AlignedBytes::~AlignedBytes()
{
    if (m_begin != nullptr)
        ::munmap(m_begin, m_size);
}

}  // namespace fp8scope::cpu

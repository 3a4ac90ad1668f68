// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/column.h"

#include <sys/mman.h>

#include <new>

namespace fp8scope {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

bool wantsHugePages(std::size_t bytes) { return bytes >= 2 * kHugePage; }

}  // namespace

void* allocateColumn(std::size_t bytes)
{
    if (!wantsHugePages(bytes))
        return ::operator new(bytes);
    void* const memory = ::operator new(bytes, std::align_val_t(kHugePage));
    ::madvise(memory, bytes, MADV_HUGEPAGE);  // advice: where it is not taken, 4 KiB pages do as well
    return memory;
}

void freeColumn(void* memory, std::size_t bytes) noexcept
{
    if (wantsHugePages(bytes))
        ::operator delete(memory, std::align_val_t(kHugePage));
    else
        ::operator delete(memory);
}

}  // namespace fp8scope

// SPDX-License-Identifier: Apache-2.0
// The vector that slices live in: std::vector with an allocator that asks the kernel for huge pages and does not fill
// what a loader is about to overwrite. Ten million slices are 360 MB: filling them with zeros first, in 4 KiB pages,
// took longer than decompressing them.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace fp8scope {

/// Throws std::bad_alloc. Aligned to huge pages from a few megabytes on.
[[nodiscard]] void* allocateColumn(std::size_t bytes);
void freeColumn(void* memory, std::size_t bytes) noexcept;

template <typename T>
struct ColumnAllocator {
    static_assert(std::is_trivially_copyable_v<T>);
    using value_type = T;

    ColumnAllocator() = default;
    template <typename U>
    ColumnAllocator(const ColumnAllocator<U>&) noexcept
    {}
    [[nodiscard]] T* allocate(std::size_t n) { return static_cast<T*>(allocateColumn(n * sizeof(T))); }
    void deallocate(T* memory, std::size_t n) noexcept { freeColumn(memory, n * sizeof(T)); }

    template <typename U>
    void construct(U*) noexcept
    {}
    template <typename U, typename First, typename... Rest>
    void construct(U* place, First&& first, Rest&&... rest)
    {
        ::new (static_cast<void*>(place)) U(std::forward<First>(first), std::forward<Rest>(rest)...);
    }
    friend bool operator==(const ColumnAllocator&, const ColumnAllocator&) { return true; }
};

/// `resize(n)` leaves the new elements unset: write them, or say `resize(n, value)`. All else is as in any vector.
template <typename T>
using Column = std::vector<T, ColumnAllocator<T>>;

}  // namespace fp8scope

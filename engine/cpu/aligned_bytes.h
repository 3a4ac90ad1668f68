// SPDX-License-Identifier: Apache-2.0
// Zeroed memory for tensors: page-aligned, in huge pages where the system has them.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace fp8scope::cpu {

/// Owns `size` bytes, all zero at first. Throws Error when the system refuses them.
class AlignedBytes {
public:
    AlignedBytes() = default;
    explicit AlignedBytes(std::size_t size);
    ~AlignedBytes();
    AlignedBytes(AlignedBytes&& other) noexcept
        : m_begin(std::exchange(other.m_begin, nullptr)), m_size(std::exchange(other.m_size, 0))
    {}
    AlignedBytes& operator=(AlignedBytes&& other) noexcept
    {
        std::swap(m_begin, other.m_begin);
        std::swap(m_size, other.m_size);
        return *this;
    }

    [[nodiscard]] std::byte* data() { return m_begin; }
    [[nodiscard]] const std::byte* data() const { return m_begin; }
    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] std::span<std::byte> bytes() { return {m_begin, m_size}; }

private:
    std::byte* m_begin = nullptr;
    std::size_t m_size = 0;
};

}  // namespace fp8scope::cpu

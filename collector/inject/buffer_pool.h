// SPDX-License-Identifier: Apache-2.0
// The buffers that CUPTI fills, and the queue of full ones. CUPTI's two callbacks do nothing but swap here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace fp8scope::inject {

/// A buffer that CUPTI gave back, `used` bytes of it filled.
struct FullBuffer {
    std::uint8_t* bytes = nullptr;
    std::size_t used = 0;
};

/// Owns all buffers. Thread-safe; no lock is held while anything else is called.
class BufferPool {
public:
    static constexpr std::size_t kBufferBytes = std::size_t{2} << 20;
    static constexpr std::size_t kAlignment = 8;  ///< ACTIVITY_RECORD_ALIGNMENT

    /// `maxBuffers`: how many may exist. `mayRefuse`: whether the CUPTI at hand takes nullptr for an answer; if not, a
    /// buffer over the limit is handed out rather than crashing the program.
    BufferPool(std::size_t maxBuffers, bool mayRefuse) : m_maxBuffers(maxBuffers), m_mayRefuse(mayRefuse) {}
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    /// kBufferBytes, aligned; nullptr when the limit or the memory is reached.
    [[nodiscard]] std::uint8_t* acquire();
    void complete(FullBuffer);
    /// The full buffers, oldest first. The caller gives each back by release().
    [[nodiscard]] std::deque<FullBuffer> takeFull();
    void release(std::uint8_t*);

    /// Buffers that were refused since the last call.
    [[nodiscard]] std::uint64_t takeRefused();
    [[nodiscard]] std::size_t allocated() const;

private:
    mutable std::mutex m_mutex;
    std::vector<std::uint8_t*> m_free;
    std::deque<FullBuffer> m_full;
    std::size_t m_allocated = 0;
    std::size_t m_maxBuffers;
    std::uint64_t m_refused = 0;
    bool m_mayRefuse;
};

}  // namespace fp8scope::inject

// SPDX-License-Identifier: Apache-2.0
#include "collector/inject/buffer_pool.h"

#include <cstdlib>
#include <utility>

namespace fp8scope::inject {

std::uint8_t* BufferPool::acquire()
{
    const std::lock_guard lock(m_mutex);
    if (!m_free.empty()) {
        std::uint8_t* buffer = m_free.back();
        m_free.pop_back();
        return buffer;
    }
    if (m_allocated >= m_maxBuffers && m_mayRefuse) {
        ++m_refused;
        return nullptr;
    }
    auto* buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
    m_allocated += buffer != nullptr ? 1 : 0;
    m_refused += buffer == nullptr ? 1 : 0;
    return buffer;
}

void BufferPool::complete(FullBuffer buffer)
{
    const std::lock_guard lock(m_mutex);
    m_full.push_back(buffer);
}

std::deque<FullBuffer> BufferPool::takeFull()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_full, {});
}

void BufferPool::release(std::uint8_t* buffer)
{
    const std::lock_guard lock(m_mutex);
    if (m_allocated > m_maxBuffers) {
        std::free(buffer);
        --m_allocated;
    } else {
        m_free.push_back(buffer);
    }
}

std::uint64_t BufferPool::takeRefused()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_refused, 0);
}

std::size_t BufferPool::allocated() const
{
    const std::lock_guard lock(m_mutex);
    return m_allocated;
}

}  // namespace fp8scope::inject

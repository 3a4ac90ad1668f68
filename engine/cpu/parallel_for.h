// SPDX-License-Identifier: Apache-2.0
// The one place where work is split over threads. OpenMP, because oneDNN's own threads are OpenMP's: both then share
// one pool and never compete for cores.
#pragma once

#include <algorithm>
#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace fp8scope::cpu {

/// Sets the number of threads of parallelFor and of oneDNN for the calling thread, and restores it.
class ThreadCount {
public:
#ifdef _OPENMP
    explicit ThreadCount(int threads) : m_before(omp_get_max_threads()) { omp_set_num_threads(threads); }
    ~ThreadCount() { omp_set_num_threads(m_before); }
#else
    explicit ThreadCount(int) {}
    ~ThreadCount() = default;
#endif
    ThreadCount(const ThreadCount&) = delete;
    ThreadCount& operator=(const ThreadCount&) = delete;

private:
#ifdef _OPENMP
    int m_before;
#endif
};

/// Threads that a parallel loop of the calling thread may use.
[[nodiscard]] inline int maxThreads()
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/// Calls body(begin, end) on parts of [0, n) in parallel, one part a thread. Parts begin at multiples of `grain`; work
/// of one grain or less stays on the caller. The body must not throw, and its results must not depend on the split.
template <typename Body>
void parallelFor(std::int64_t n, std::int64_t grain, const Body& body)
{
    const std::int64_t grains = (n + grain - 1) / grain;
    const auto parts = std::min<std::int64_t>(grains, maxThreads());
    if (parts <= 1) {
        if (n > 0)
            body(std::int64_t{0}, n);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(parts))
#endif
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t begin = grains * part / parts * grain;
        const std::int64_t end = std::min(n, grains * (part + 1) / parts * grain);
        body(begin, end);
    }
}

/// The parts' results joined: combine(result, body(begin, end)). `combine` must be exact (maximum, integer sum), so
/// that the result depends neither on the split nor on the order.
template <typename Result, typename Body, typename Combine>
[[nodiscard]] Result parallelReduce(std::int64_t n, std::int64_t grain, Result result, const Body& body,
                                    const Combine& combine)
{
    parallelFor(n, grain, [&](std::int64_t begin, std::int64_t end) {
        const Result part = body(begin, end);
#ifdef _OPENMP
#pragma omp critical(fp8scope_reduce)
#endif
        result = combine(result, part);
    });
    return result;
}

}  // namespace fp8scope::cpu

// SPDX-License-Identifier: Apache-2.0
// An fp8 training loop as a profiler of others sees it, before it is written in one of their formats: ops, API calls,
// device work and ranges with their links. kineto_json and nsys_database write the same loop, so a test can compare
// what two importers make of it.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::test {

struct ProfiledLoopShape {
    std::uint32_t steps = 3;
    std::uint32_t layers = 2;
    std::uint64_t seed = 1;
    std::int64_t grainNs = 1;  ///< every time is a multiple (1000: for formats that keep microseconds)
    std::uint64_t firstCorrelation = 1;
    std::int64_t startNs = 2'000'000;
};

enum class ProfiledThread : std::uint8_t { Main, Backward };

struct ProfiledOp {
    std::string_view name;  ///< "aten::_scaled_mm"
    std::int64_t startNs = 0, durNs = 0;
    ProfiledThread thread = ProfiledThread::Main;
    std::uint64_t externalId = 0;
    std::int64_t sequence = -1;  ///< autograd's, shared by forward and backward; -1: none
    std::string dims, types;     ///< as Kineto writes "Input Dims" and "Input type"
};

struct ProfiledCall {
    std::string_view name;  ///< "cudaLaunchKernel", without the version that nsys appends
    bool driver = false;
    std::int64_t startNs = 0, durNs = 0;
    ProfiledThread thread = ProfiledThread::Main;
    std::uint64_t correlation = 0;
    std::uint64_t externalId = 0;  ///< 0: outside every op
};

struct ProfiledWork {
    NameKind kind = NameKind::Kernel;  ///< Kernel, Memcpy or Memset
    std::string_view name;
    std::int64_t startNs = 0, durNs = 0;
    std::uint32_t stream = 7;
    std::uint64_t correlation = 0;
    std::uint64_t externalId = 0;
    std::uint64_t bytes = 0;
    LaunchShape shape;
};

struct ProfiledRange {
    std::string name;  ///< "ProfilerStep#4", "layer1"
    std::int64_t startNs = 0, durNs = 0;
    bool module = false;  ///< a module's forward, else a step
};

/// Each vector in the order of its times; device queues do one thing after another.
struct ProfiledLoop {
    std::vector<ProfiledOp> ops;
    std::vector<ProfiledCall> calls;
    std::vector<ProfiledWork> work;
    std::vector<ProfiledRange> ranges;
};

/// The same loop for the same shape. A step: a copy in, for each layer amax, cast and fp8 GEMM, backwards dgrad and
/// wgrad with their casts, an all-reduce beside them, the optimizer. 7 * layers + 4 pieces of device work a step.
[[nodiscard]] ProfiledLoop makeProfiledLoop(const ProfiledLoopShape& shape = {});

}  // namespace fp8scope::test

// SPDX-License-Identifier: Apache-2.0
// Builds small traces in tests, readable at the call: names and ops are found or made by their text.
#pragma once

#include "collector/trace/trace.h"

#include <string>
#include <string_view>

namespace fp8scope::test {

class TraceBuilder {
public:
    /// Starts a run; later calls refer to the last one.
    TraceBuilder& run(std::string_view mode, Origin origin = Origin::MeasuredGpu);
    /// The configuration of the last run: runs of one mode with the same one are repeats.
    TraceBuilder& config(std::string_view toml);
    TraceBuilder& device(const Device&);
    TraceBuilder& layer(std::string_view name, std::int64_t in, std::int64_t out, std::string_view precision = "bf16",
                        std::string_view reason = "");
    /// Starts a track; later slices go on it.
    TraceBuilder& track(std::string_view name, TrackKind kind = TrackKind::DeviceQueue);
    /// A slice of a kernel without an op.
    TraceBuilder& slice(std::int64_t startNs, std::int64_t durNs, std::string_view name, Role role = Role::Other,
                        Precision precision = Precision::Unknown);
    /// A slice of an op (made on first use in the run; `op.run` is filled in; the name is interned as NameKind::Op).
    TraceBuilder& opSlice(std::int64_t startNs, std::int64_t durNs, TraceOp op,
                          Precision precision = Precision::Unknown);
    TraceBuilder& step(std::uint32_t index, std::int64_t startNs, std::int64_t durNs, double loss = 0,
                       bool warmup = false);
    TraceBuilder& stat(TensorStat stat);
    TraceBuilder& sample(std::int64_t timeNs, double value);
    TraceBuilder& diagnostic(std::string_view name, Severity severity, std::uint64_t count, std::string_view text);
    /// The trace so far, with tracks finished and runs' start and end set.
    [[nodiscard]] Trace build() const;

    /// Layer of the last run by name; it must exist.
    [[nodiscard]] LayerId layerId(std::string_view name) const;

private:
    NameId intern(const Name&);
    [[nodiscard]] RunId currentRun() const;
    Trace m_trace;
};

}  // namespace fp8scope::test

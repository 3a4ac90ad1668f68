// SPDX-License-Identifier: Apache-2.0
// The ops and layers that device work belongs to: equal ones stand once.
#pragma once

#include "collector/import/gemm_arguments.h"
#include "collector/import/host_nesting.h"
#include "collector/import/raw_events.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace fp8scope::import {

/// What is known of one piece of device work.
struct OpEvidence {
    RunId run;
    NameId name;  ///< of the op; none() without one
    std::uint32_t arguments = DeviceEvent::kNoArguments;
    std::uint32_t module = kNone;
    Phase phase = Phase::Other;
    bool isProduct = false;  ///< the kernel that multiplies, of all that the op launched
    friend bool operator==(const OpEvidence&, const OpEvidence&) = default;
};

class TraceOpTable {
public:
    TraceOpTable(const RawEvents& raw, const ModuleTree& modules) : m_raw(raw), m_modules(modules) {}
    /// none() where nothing at all is known. `startNs`: layers are numbered by their first work.
    [[nodiscard]] OpId intern(const OpEvidence& evidence, std::int64_t startNs);
    /// The product that an op of this name computes with these arguments, parsed once.
    [[nodiscard]] const std::optional<GemmArguments>& gemm(NameId name, std::uint32_t arguments);
    /// The first arguments that describe the same collective (kind, group, size, type); none without one. Calls differ
    /// in their sequence numbers only.
    [[nodiscard]] std::uint32_t collective(std::uint32_t arguments);
    /// Moves ops and layers to the trace.
    void finish(Trace& trace);

private:
    struct Hash {
        std::size_t operator()(const OpEvidence& e) const noexcept;
    };
    [[nodiscard]] LayerId layerOf(RunId run, std::uint32_t module, std::int64_t startNs);
    void describeProduct(const OpEvidence& evidence, TraceOp& op);
    void describeCollective(const OpEvidence& evidence, TraceOp& op);
    void describeTypes(const OpEvidence& evidence, TraceOp& op);
    void nameLayers();
    void numberLayers();
    void numberOps();

    const RawEvents& m_raw;
    const ModuleTree& m_modules;
    std::vector<TraceOp> m_ops;
    std::vector<Layer> m_layers;
    std::vector<std::uint32_t> m_moduleOfLayer;
    std::vector<std::int64_t> m_firstNs;  ///< of each layer
    std::unordered_map<OpEvidence, OpId, Hash> m_known;
    std::map<std::tuple<std::string_view, std::string_view, std::string_view, std::int64_t>, std::uint32_t>
        m_collectives;
    std::unordered_map<std::uint64_t, LayerId> m_layerOfModule;               ///< by run and module
    std::unordered_map<std::uint64_t, std::optional<GemmArguments>> m_gemms;  ///< by name and arguments
};

}  // namespace fp8scope::import

// SPDX-License-Identifier: Apache-2.0
// What stood around each moment of each CPU thread: the op, its module, the autograd node, the phase. Kernels are
// attributed by asking this at the call that launched them.
#pragma once

#include "collector/import/id_index.h"
#include "collector/import/module_tree.h"
#include "collector/import/name_hints.h"
#include "collector/import/raw_events.h"

#include <cstdint>
#include <vector>

namespace fp8scope::import {

/// Rows are into RawEvents::host; kNone where there is none.
struct HostContext {
    std::uint32_t op = kNone;      ///< the innermost op, itself included
    std::uint32_t shaped = kNone;  ///< the innermost op that says its operands' shapes
    std::uint32_t module = kNone;  ///< into ModuleTree
    std::uint32_t node = kNone;    ///< the autograd node that runs; none while it computes forward ops again
    PhaseHint phase = PhaseHint::None;
    bool accumulatesGrad = false;  ///< a parameter's gradient is added up: `node` is the one that made it
};

class HostNesting {
public:
    HostNesting(const RawEvents& raw, const std::vector<NameHint>& hints);

    [[nodiscard]] const HostContext& at(std::uint32_t row) const { return m_contexts[row]; }
    /// The event of a thread that covers a moment, innermost; kNone without.
    [[nodiscard]] std::uint32_t covering(std::uint32_t track, std::int64_t timeNs) const;
    /// The forward op that made a node, by sequence number or arrow; kNone where the file does not tell.
    [[nodiscard]] std::uint32_t forwardOf(std::uint32_t node) const
    {
        return node == kNone || m_forwardOf.empty() ? kNone : m_forwardOf[node];
    }
    /// Ops that started on the op's thread while it ran, itself first: at most `limit`.
    [[nodiscard]] std::vector<std::uint32_t> opsInside(std::uint32_t op, std::size_t limit) const;
    [[nodiscard]] const std::vector<NameHint>& hints() const { return m_hints; }
    [[nodiscard]] const ModuleTree& modules() const { return m_modules; }
    /// Rows of a track's thread by start, longer first.
    [[nodiscard]] const std::vector<std::uint32_t>& threadEvents(std::uint32_t track) const
    {
        return m_threads[m_threadOfTrack[track]];
    }

private:
    void groupByThread();
    void nest(const std::vector<std::uint32_t>& events);
    void enter(std::uint32_t row, HostContext& context, std::uint32_t& lastNode);
    void enterModule(const HostEvent& event, HostContext& context);
    void enterOp(std::uint32_t row, HostContext& context, std::uint32_t& lastNode);
    void linkBySequence();
    void linkByFlows();
    [[nodiscard]] std::uint32_t startingAt(std::uint32_t track, std::int64_t timeNs) const;
    [[nodiscard]] std::int64_t endNs(std::uint32_t row) const
    {
        return m_raw.host[row].startNs + m_raw.host[row].durNs;
    }

    const RawEvents& m_raw;
    const std::vector<NameHint>& m_hints;
    bool m_hasModuleFrames = false;
    ModuleTree m_modules;
    std::vector<std::uint32_t> m_moduleOfArguments;  ///< of their "Module Hierarchy"
    std::vector<std::uint32_t> m_threadOfTrack;      ///< kNone: a device's annotations, which hold no launches
    std::vector<std::vector<std::uint32_t>> m_threads;
    std::vector<std::uint32_t> m_parent;
    std::vector<std::uint32_t> m_position;  ///< of a row within its thread
    std::vector<HostContext> m_contexts;
    std::vector<std::uint32_t> m_nodes;      ///< rows of autograd nodes
    std::vector<std::uint32_t> m_forwardOf;  ///< by row; empty without nodes
};

}  // namespace fp8scope::import

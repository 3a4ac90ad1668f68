// SPDX-License-Identifier: Apache-2.0
// What the readers of an export's tables share: the events that they add to, names made once, and oddities counted.
#pragma once

#include "collector/import/nsys_database.h"
#include "collector/import/nsys_target.h"
#include "collector/import/raw_events.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fp8scope::import {

class NsysEvents {
public:
    NsysEvents(NsysDatabase& database, RawEvents& raw) : db(database), events(raw), target(database, raw) {}

    NsysDatabase& db;
    RawEvents& events;
    NsysTarget target;

    [[nodiscard]] NameId name(NameKind kind, const std::string& text);
    /// The name with this id in StringIds; `None` gives none() for an id that is not there.
    [[nodiscard]] NameId nameOf(NameKind kind, std::int64_t stringId);
    [[nodiscard]] LaunchShapeId launchShape(const LaunchShape& shape);

    struct Span {
        std::int64_t startNs = 0, durNs = 0;
    };
    /// A row's time; nullopt, and counted, where it has none that can be.
    [[nodiscard]] std::optional<Span> span(const NsysRows& rows, NsysRows::Column start, NsysRows::Column end);
    [[nodiscard]] std::optional<std::int64_t> instant(const NsysRows& rows, NsysRows::Column time);

    void count(std::string_view name, Severity severity, std::string_view text, std::uint64_t n = 1);
    /// The latest end so far: where ranges that were left open end.
    [[nodiscard]] std::int64_t endNs() const { return m_endNs; }
    /// Hands the oddities to the events.
    void finish();

private:
    struct ShapeHash {
        std::size_t operator()(const LaunchShape& shape) const noexcept;
    };

    std::map<std::pair<NameKind, std::string>, NameId> m_names;
    std::unordered_map<std::uint64_t, NameId> m_nameOfString;  ///< by string id and kind
    std::unordered_map<LaunchShape, LaunchShapeId, ShapeHash> m_shapes;
    std::map<std::string, Diagnostic, std::less<>> m_oddities;
    std::uint64_t m_negativeDurations = 0;
    std::uint64_t m_unreadableRows = 0;
    std::uint64_t m_timesOutOfRange = 0;
    std::int64_t m_endNs = 0;
};

// One function a table; each does nothing where the table is not there, and throws NsysDamage and ImportCancelled.

void readNsysCalls(NsysEvents&);      ///< CUPTI_ACTIVITY_KIND_RUNTIME: CUDA's runtime and driver
void readNsysLibraries(NsysEvents&);  ///< calls of cuBLAS, cuDNN and MPI
void readNsysOverhead(NsysEvents&);
void readNsysRanges(NsysEvents&);  ///< NVTX_EVENTS; after the other tables, whose end is the end of open ranges
void readNsysKernels(NsysEvents&);
void readNsysGraphs(NsysEvents&);
void readNsysCopies(NsysEvents&);
void readNsysMemsets(NsysEvents&);
void readNsysWaits(NsysEvents&);
void readNsysCudaEvents(NsysEvents&);
void readNsysMetrics(NsysEvents&);
void readNsysDiagnostics(NsysEvents&);

}  // namespace fp8scope::import

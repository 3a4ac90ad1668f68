// SPDX-License-Identifier: Apache-2.0
// Joins chunks, in file order, to the RawEvents of the file.
#pragma once

#include "collector/import/kineto_chunk.h"
#include "collector/import/kineto_head.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace fp8scope::import {

class KinetoMerger {
public:
    /// `share`: how much of the file is read with this chunk, for the memory to ask for.
    void add(const KinetoChunk& chunk, double share);
    /// What is left once all chunks are in: names of rows, processes, devices, ranges of two events, the time base.
    [[nodiscard]] RawEvents finish(const KinetoHead& head);

    [[nodiscard]] std::uint64_t events() const { return m_events; }

private:
    struct Maps;

    std::uint32_t trackOf(const Row& row);
    void addRows(const KinetoChunk&, Maps&);
    void addNames(const KinetoChunk&, Maps&);
    void addEvents(const KinetoChunk&, const Maps&, double share);
    void addPoints(const KinetoChunk&, const Maps&, double share);
    void setZero(const KinetoChunk&);
    [[nodiscard]] bool fromZero(std::int64_t& startNs, std::int64_t durNs);
    void closeBoundaries();
    void closeRange(const Boundary& begin, std::int64_t endNs);
    void sumChanges();
    void resolveFlows();
    void nameRows(const KinetoHead&);
    void placeDevices(const KinetoHead&);
    void setTimeBase(const KinetoHead&);
    [[nodiscard]] ProcessId mainProcess() const;
    [[nodiscard]] std::string nameOf(RowNameKey::Of of, const RowKey& key) const;
    std::uint32_t deviceOf(std::int64_t ordinal, const RowKey& key, const KinetoHead&);

    RawEvents m_raw;
    std::vector<Row> m_rows;  ///< by track
    std::vector<RowKey> m_eitherRows;
    std::unordered_map<RowKey, std::uint32_t, RowHash> m_rowIds;
    Interned<NameKey, NameHash> m_names;
    Interned<LaunchShape, ShapeHash> m_shapes;
    Interned<Arguments, ArgumentsHash> m_arguments;
    std::vector<Boundary> m_boundaries;
    RowNames m_rowNames;
    std::map<std::int64_t, std::uint32_t> m_deviceIds;
    OddityCounts m_oddities;
    std::uint64_t m_events = 0, m_knownCategories = 0;
    std::int64_t m_zeroNs = 0;
    bool m_hasZero = false;  ///< m_zeroNs is the time 0 of m_raw
};

}  // namespace fp8scope::import

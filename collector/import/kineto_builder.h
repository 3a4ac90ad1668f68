// SPDX-License-Identifier: Apache-2.0
// From an event's text to the columns of a chunk.
#pragma once

#include "collector/import/kineto_chunk.h"

#include <array>
#include <optional>

namespace fp8scope::import {

class KinetoBuilder {
public:
    explicit KinetoBuilder(KinetoChunk& chunk) : m_chunk(chunk) {}

    /// Takes an event that is not a counter; what is not understood is counted.
    void add(const EventText&);
    /// One value of a counter event.
    void addCounter(const EventText&, std::string_view quotedKey, std::string_view value);

private:
    struct Span {
        std::int64_t startNs = 0, durNs = 0;
    };

    std::optional<std::int64_t> timeOf(const EventText&);
    std::optional<Span> spanOf(const EventText&);
    std::uint32_t row(const EventText&, RowUse);
    std::uint32_t row(RowKey);
    std::uint32_t deviceRow(const EventText&, RowUse);
    std::uint32_t memoryRow(const EventText&, const char* what, RowUse);
    NameId name(const RawValue& text, NameKind);
    LaunchShapeId launchShape(const EventText&);
    std::uint32_t opArguments(const EventText&);

    void addSpan(const EventText&);
    void addDevice(const EventText&, SpanKind, Span);
    void addHost(const EventText&, SpanKind, Span);
    void addRange(const EventText&, RowUse, Span);
    void addInstant(const EventText&);
    void addMemory(const EventText&, std::int64_t ns);
    void addFlow(const EventText&, bool begins);
    void addBoundary(const EventText&, bool begins, bool async);
    void addRowName(const EventText&);

    KinetoChunk& m_chunk;
    std::unordered_map<RowKey, std::uint32_t, RowHash> m_rowIds;
    NameKey m_name;  // scratch: a lookup allocates nothing
    Arguments m_arguments;
    struct LastRow {
        std::string pid, tid;
        RowUse use{};
        std::uint32_t id = 0;
    };
    std::array<LastRow, 4> m_lastRows;
    std::size_t m_nextLastRow = 0;
    /// The span just before, as printed: the arrow that the writer puts behind it says nothing that its correlation
    /// does not.
    struct {
        std::string pid, tid, ts;
        std::uint64_t correlation = 0;
    } m_last;
};

}  // namespace fp8scope::import

// SPDX-License-Identifier: Apache-2.0
// The events of one block, with ids of their own: made on any thread, joined in file order by KinetoMerger.
#pragma once

#include "collector/import/kineto_categories.h"
#include "collector/import/kineto_event.h"
#include "collector/import/kineto_oddities.h"
#include "collector/import/raw_events.h"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fp8scope::import {

/// Which track of a row (pid, tid) something is on; a row of a device can have three.
enum class RowUse : std::uint8_t {
    DeviceQueue,
    DeviceWaits,
    DeviceRanges,
    Thread,
    Marks,    ///< what is of no known category, and async ranges
    Counter,  ///< the row's tid is the counter's name
    Changes,  ///< a counter that the file only tells the changes of
    Either,   ///< of a flow's end: the row's queue, or its thread
};

/// A process or thread as the file names it: mostly a number, sometimes a word ("stream 7", "Spans").
struct RowPart {
    std::int64_t number = 0;
    std::string word;  ///< empty: the number counts
    friend auto operator<=>(const RowPart&, const RowPart&) = default;
};

struct RowKey {
    RowPart pid, tid;
    RowUse use = RowUse::Thread;
    friend bool operator==(const RowKey&, const RowKey&) = default;
};

struct RowHash {
    std::size_t operator()(const RowKey& key) const noexcept
    {
        const std::hash<std::string> word;
        std::uint64_t h = static_cast<std::uint64_t>(key.pid.number) * 0x9E3779B97F4A7C15U;
        h ^= static_cast<std::uint64_t>(key.tid.number) + static_cast<std::uint64_t>(key.use) * 0xC2B2AE3D27D4EB4FU;
        h *= 0xFF51AFD7ED558CCDU;
        if (!key.pid.word.empty() || !key.tid.word.empty())
            h ^= word(key.pid.word) * 31 + word(key.tid.word);
        return h ^ (h >> 32U);
    }
};

/// A row with what its events' args say of it.
struct Row {
    RowKey key;
    std::int64_t device = -1;  ///< ordinal, -1 where no event says it
    std::int64_t stream = -1;
};

/// Where a range of two events begins or ends: B and E (id 0), or b and e of one id.
struct Boundary {
    std::uint32_t row = 0;
    std::uint64_t id = 0;
    std::int64_t ns = 0;
    NameId name;
    bool begins = false;
};

/// Names that metadata events give to processes and threads; writers repeat them, some with every event.
struct RowNameKey {
    enum class Of : std::uint8_t { Process, Thread, Labels };
    Of of = Of::Process;
    RowPart pid, tid;  ///< tid of threads only
    friend auto operator<=>(const RowNameKey&, const RowNameKey&) = default;
};
using RowNames = std::map<RowNameKey, std::string>;

/// Values that stand once, by number.
template <typename T, typename Hash = std::hash<T>>
class Interned {
public:
    std::uint32_t add(const T& value)
    {
        const auto [place, isNew] = m_ids.try_emplace(value, static_cast<std::uint32_t>(m_values.size()));
        if (isNew)
            m_values.push_back(&place->first);
        return place->second;
    }
    [[nodiscard]] std::size_t size() const { return m_values.size(); }
    [[nodiscard]] const T& operator[](std::size_t i) const { return *m_values[i]; }

private:
    std::unordered_map<T, std::uint32_t, Hash> m_ids;  // its nodes do not move
    std::vector<const T*> m_values;
};

struct NameKey {
    std::string text;
    NameKind kind = NameKind::Kernel;
    friend bool operator==(const NameKey&, const NameKey&) = default;
};
struct NameHash {
    std::size_t operator()(const NameKey& key) const noexcept
    {
        return std::hash<std::string>()(key.text) + static_cast<std::size_t>(key.kind);
    }
};
struct ShapeHash {
    std::size_t operator()(const LaunchShape& shape) const noexcept;
};
struct ArgumentsHash {
    std::size_t operator()(const Arguments& arguments) const noexcept;
};

/// Times are ns as the file prints them, without its base.
struct KinetoChunk {
    std::vector<Row> rows;
    Interned<NameKey, NameHash> names;
    Interned<LaunchShape, ShapeHash> shapes;
    Interned<Arguments, ArgumentsHash> arguments;
    std::vector<DeviceEvent> device;
    std::vector<HostEvent> host;
    std::vector<Flow> flows;
    std::vector<Sample> samples;
    std::vector<Boundary> boundaries;
    RowNames rowNames;
    OddityCounts oddities;
    std::uint64_t events = 0;
    std::uint64_t knownCategories = 0;  ///< events of a category that only PyTorch's profiler writes
};

}  // namespace fp8scope::import

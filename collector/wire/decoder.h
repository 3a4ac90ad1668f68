// SPDX-License-Identifier: Apache-2.0
// Bytes to records, on the recorder's side. The bytes may come from anyone, in any pieces.
#pragma once

#include "collector/wire/records.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fp8scope::wire {

/// How many ids of each kind a stream has declared so far.
struct Declared {
    std::uint32_t devices = 0, names = 0, shapes = 0;            // of the connection
    std::uint32_t tracks = 0, layers = 0, ops = 0, tensors = 0;  // of the current run
};

/// Decodes one connection's stream incrementally. What next() gives is sound: every id was declared before, every
/// enumerator exists, durations are not negative, records of a run lie between its begin and end.
class Decoder {
public:
    /// Adds bytes as they came from the socket.
    void feed(std::span<const std::byte>);

    /// The next whole record, or nullopt until more bytes come. Throws Error for a stream that does not begin with a
    /// Hello of this protocol version (both versions named), for a bad length, kind, enumerator, text or id, and for a
    /// record out of its place. A stream that failed stays failed: the same Error is thrown again.
    [[nodiscard]] std::optional<Record> next();

    /// Bytes that belong to a record that has not come to its end.
    [[nodiscard]] std::size_t pendingBytes() const { return m_bytes.size() - m_consumed; }

private:
    [[nodiscard]] std::optional<Record> decodeNext();
    void admit(const Record&);
    [[noreturn]] void fail(std::string what);

    std::vector<std::byte> m_bytes;
    std::size_t m_consumed = 0;
    std::uint64_t m_records = 0;
    Declared m_declared;
    bool m_greeted = false;
    bool m_inRun = false;
    bool m_ended = false;
    std::string m_failure;
};

}  // namespace fp8scope::wire

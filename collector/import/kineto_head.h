// SPDX-License-Identifier: Apache-2.0
// What a PyTorch trace says outside of its events: devices, rank, versions, base time. Its keys come in any order,
// before and behind the events.
#pragma once

#include "collector/trace/trace.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::import {

struct KinetoHead {
    struct NumberedDevice {
        std::int64_t ordinal = 0;
        Device device;
    };
    std::vector<NumberedDevice> devices;
    std::int64_t baseNs = 0;  ///< added to all times gives Unix time; 0: not said
    std::int32_t rank = -1;
    std::string host;
    std::vector<std::string> keys;  ///< of the members, as they came
    bool kineto = false;            ///< a key stands here that only PyTorch's profiler writes
    std::map<std::string, std::string> meta;
    std::vector<Diagnostic> diagnostics;  ///< the profiler's own log, and what was not readable

    /// Takes one member of the top-level object, its value as printed (`cut`: only its beginning).
    void take(std::string_view key, std::string_view json, bool cut);
};

/// Walks over the members of the file's top-level object, fed in pieces of any size.
class TopLevel {
public:
    explicit TopLevel(KinetoHead& head) : m_head(head) {}

    /// Reads on. Gives how much of `text` was used: all of it, or up to behind the '[' of the events (inEvents()).
    std::size_t feed(std::string_view text);
    [[nodiscard]] bool inEvents() const { return m_state == State::Events; }
    /// Nothing but rubbish can follow.
    [[nodiscard]] bool done() const { return m_state == State::Done; }
    /// To be called behind the events' ']'.
    void leaveEvents();
    /// The first character that is no blank, '\0' before.
    [[nodiscard]] char first() const { return m_first; }

private:
    enum class State { Start, Key, Colon, Value, Between, Events, Done };
    void step(char c);
    void begin(char c);
    void value(char c);
    void endValue();

    KinetoHead& m_head;
    State m_state = State::Start;
    char m_first = '\0';
    bool m_bareArray = false;
    std::string m_key, m_value;
    bool m_cut = false;
    int m_depth = 0;
    bool m_inString = false, m_escaped = false;
};

}  // namespace fp8scope::import

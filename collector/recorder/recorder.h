// SPDX-License-Identifier: Apache-2.0
// Receives records from one or many processes over a local socket, and is the only writer of their trace.
//
// It has no thread: its owner calls pump(), so that everything (records, observers, the owner's own loop) happens in
// order.
#pragma once

#include "collector/recorder/recorded_run.h"
#include "collector/recorder/session_directory.h"
#include "collector/trace/trace_writer.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace fp8scope::recorder {

class Recorder {
public:
    /// Makes the trace, a session directory and the socket in it. Throws Error if the file exists (Refuse), is being
    /// written by somebody else, or cannot be made.
    explicit Recorder(const std::filesystem::path& output, TraceWriter::IfExists = TraceWriter::IfExists::Refuse,
                      RecorderObserver = {});
    ~Recorder();  ///< Without close(): the trace keeps what was flushed and stays marked incomplete.
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    [[nodiscard]] std::filesystem::path socket() const { return m_directory.socket(); }
    /// What producers must show in their hello; hand it over by wire::kTokenVariable.
    [[nodiscard]] const std::string& token() const { return m_token; }
    /// A private directory that lives as long as the recorder, for what children are handed.
    [[nodiscard]] const std::filesystem::path& directory() const { return m_directory.path(); }

    /// This and explain() throw as pump() does.
    void setMeta(std::string_view key, std::string_view value);

    /// Waits up to `timeout` for something to arrive, and records all that has. Data becomes durable at the ends of
    /// steps and of runs, and after 250 ms at the latest. Throws Error once when the trace cannot be written any more
    /// (disk full): recording is then over, producers are disconnected (and go quiet), the trace keeps what fitted, and
    /// later calls do nothing. What a producer does wrong (token, malformed records) ends its connection and becomes a
    /// diagnostic.
    void pump(std::chrono::milliseconds timeout);
    /// Records what producers have sent until they disconnect or `timeout` is over.
    void drain(std::chrono::milliseconds timeout);
    [[nodiscard]] bool hasProducers() const;
    /// True once the trace could not be written.
    [[nodiscard]] bool failed() const;

    /// Tells injected libraries to record or to pause, those that connect later too. The engine's worker does not
    /// listen.
    void setRecording(bool);

    /// Writes a mark, now, on the timeline of the run that began last. False while none has.
    bool mark(const std::string& name);

    /// Replaces the note of an incomplete run: its owner may know more than that the connection was lost.
    void explain(RunId, const std::string& note);

    /// Disconnects producers and closes the trace, which is then complete. Throws Error as pump does.
    void close();

    /// The runs recorded so far, in the order of their begin.
    [[nodiscard]] const std::deque<RecordedRun>& runs() const;
    /// Finished steps of all runs that are safely in the file.
    [[nodiscard]] std::uint64_t durableSteps() const;

private:
    struct Impl;
    SessionDirectory m_directory;
    std::string m_token;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace fp8scope::recorder

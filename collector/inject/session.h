// SPDX-License-Identifier: Apache-2.0
// The recording of one process: CUPTI on one side, the recorder's socket on the other, a thread of its own between.
#pragma once

#include "collector/inject/buffer_pool.h"
#include "collector/inject/cupti_table.h"
#include "collector/inject/options.h"
#include "collector/inject/outbox.h"
#include "collector/inject/record_translator.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace fp8scope::inject {

/// Made once a process and never destroyed: CUPTI's threads may call back until the process is gone.
///
/// The program's threads only ever swap buffers here. One thread drains: it decodes, sends, obeys the recorder, and
/// makes CUPTI hand over what it holds every kFlushMs. No lock is held while CUPTI is called: CUPTI calls back under
/// locks of its own.
class Session {
public:
    static constexpr int kFlushMs = 250;

    Session(CuptiTable, Options);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Subscribes, enables the kinds, starts the thread. False if CUPTI refuses: the recorder is told why, in one
    /// sentence, and the program runs on unrecorded.
    bool start();
    /// The last flush: everything that CUPTI has, and what waits, as far as the recorder takes it within some seconds.
    void finish();
    /// In the child of a fork: CUDA does not work there, and the parent's connection is not the child's.
    void abandon();

    // Called by CUPTI, on the program's threads.
    [[nodiscard]] std::uint8_t* bufferRequested() { return m_pool.acquire(); }
    void bufferCompleted(FullBuffer);
    void contextEnds();
    void profilerStarts();
    void profilerStops();

private:
    [[nodiscard]] CUptiResult subscribe();
    [[nodiscard]] std::string refusal(CUptiResult);
    void setRecording(bool wanted);
    void complain(const char* name, const std::string& sentence);
    void wake();
    // On the draining thread, and on the finishing one once that has ended:
    void drainLoop();
    void waitForWork(int timeoutMs);
    void obey();
    void drainFull();
    void sendEncoded();

    CuptiTable m_cupti;
    Options m_options;
    BufferPool m_pool;
    Outbox m_outbox;
    wire::Encoder m_encoder;
    RecordTranslator m_translator;
    int m_wakeFd;
    std::string m_holder;  ///< of CUPTI's one subscription, if it is not ours
    std::thread m_drainer;
    std::atomic<bool> m_stop{false};
    std::atomic<bool> m_abandoned{false};
    std::mutex m_recordingMutex;  ///< of m_recording and the calls that change it; never taken in buffer callbacks
    bool m_recording = false;
};

}  // namespace fp8scope::inject

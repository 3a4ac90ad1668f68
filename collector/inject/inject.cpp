// SPDX-License-Identifier: Apache-2.0
// What the CUDA driver calls once it has loaded this library into a process (CUDA_INJECTION64_PATH), and what NVTX
// calls (NVTX_INJECTION64_PATH). Nothing may escape from here: the program is not ours.
#include "collector/inject/session.h"

#include <cstdlib>
#include <pthread.h>

namespace {

using namespace fp8scope;

inject::Session* theProcessSession = nullptr;  // leaked on purpose, see Session

void finishAtExit() { theProcessSession->finish(); }
void abandonInChild() { theProcessSession->abandon(); }

/// Tells the recorder why there will be no records.
void complainWithoutCupti(const inject::Options& options, const std::string& problem)
{
    wire::Encoder encoder;
    encoder.append(inject::helloOf(options));
    encoder.append(wire::Diagnostic{"cupti_missing", Severity::Error, 1, problem});
    encoder.append(wire::Bye{});
    inject::Outbox outbox(options.socket);
    outbox.put(encoder.bytes());
    outbox.send();
}

void startSession()
{
    inject::Options options = inject::optionsFromEnvironment();
    if (options.socket.empty())
        return;  // not started by `fp8scope collect`
    std::string problem;
    const auto cupti = inject::loadCupti(options.cupti, problem);
    if (!cupti)
        return complainWithoutCupti(options, problem);
    theProcessSession = new inject::Session(*cupti, std::move(options));
    if (!theProcessSession->start())
        return;
    ::pthread_atfork(nullptr, nullptr, abandonInChild);
    std::atexit(finishAtExit);
}

}  // namespace

#define FP8SCOPE_EXPORT extern "C" __attribute__((visibility("default")))

FP8SCOPE_EXPORT int InitializeInjection(void)
{
    try {
        if (theProcessSession == nullptr)
            startSession();
    } catch (...) {
        // Out of memory or of threads: the program runs on unrecorded.
    }
    return 1;
}

/// NVTX asks this library; CUPTI has the answer. Returns 0 where there is no CUPTI, and NVTX calls then do nothing.
FP8SCOPE_EXPORT int InitializeInjectionNvtx2(void* getExportTable)
{
    try {
        std::string problem;
        const auto cupti = inject::loadCupti(inject::optionsFromEnvironment().cupti, problem);
        return cupti ? inject::forwardNvtx(*cupti, getExportTable) : 0;
    } catch (...) {
        return 0;
    }
}

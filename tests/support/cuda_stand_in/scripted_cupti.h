// SPDX-License-Identifier: Apache-2.0
// A CUPTI for machines without a GPU: it has the functions that the injected library looks up, keeps CUPTI's rules
// (buffers a thread, callbacks under its own lock, the newest structs), and its records are what a test program emits.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

extern "C" {

/// The work that a CUDA program would have caused: puts a copy of the record into the calling thread's buffer, if its
/// kind is enabled. `bytes`: of the struct of the newest version; an older CUPTI (SCRIPTED_CUPTI_VERSION) cuts it.
void scripted_emit(const void* record, std::size_t bytes);

/// A driver or runtime call, a context's end: what a subscriber is called back for, if it enabled that.
void scripted_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site);

/// Whether the kind is enabled, for programs that wait for a recording to start.
int scripted_enabled(CUpti_ActivityKind kind);
}

// Environment:
//   SCRIPTED_CUPTI_VERSION   what cuptiGetVersion says (default 130001)
//   SCRIPTED_CUPTI_FAIL      "cuptiSubscribe=39,cuptiActivityEnable=15": functions that return an error
//   SCRIPTED_CUPTI_HOLDER    who holds the subscription, for cuptiSubscribe_v2 of error 39

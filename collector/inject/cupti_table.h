// SPDX-License-Identifier: Apache-2.0
// CUPTI as a table of functions found at run time, so that one library serves CUDA 12 and 13, and tests can put a
// scripted CUPTI behind it.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>
#include <string>

namespace fp8scope::inject {

/// Never unloaded: CUPTI's own threads may call back until the process ends, and 13.0 crashes on dlclose.
struct CuptiTable {
    std::uint32_t version = 0;  ///< cuptiGetVersion: 19 is CUDA 12.0, ..., 28 is 12.9 Update 1, 130000 is 13.0
    void* handle = nullptr;

    decltype(&::cuptiGetVersion) getVersion = nullptr;
    decltype(&::cuptiGetResultString) getResultString = nullptr;
    decltype(&::cuptiSubscribe) subscribe = nullptr;
    decltype(&::cuptiEnableCallback) enableCallback = nullptr;
    decltype(&::cuptiGetCallbackName) getCallbackName = nullptr;
    decltype(&::cuptiGetTimestamp) getTimestamp = nullptr;
    decltype(&::cuptiActivityRegisterCallbacks) registerCallbacks = nullptr;
    decltype(&::cuptiActivityEnable) enable = nullptr;
    decltype(&::cuptiActivityDisable) disable = nullptr;
    decltype(&::cuptiActivityFlushAll) flushAll = nullptr;
    decltype(&::cuptiActivityGetNextRecord) getNextRecord = nullptr;
    decltype(&::cuptiActivityGetNumDroppedRecords) getNumDroppedRecords = nullptr;
    decltype(&::cuptiActivitySetAttribute) setAttribute = nullptr;
    // nullptr where this CUPTI has none:
    decltype(&::cuptiSetThreadIdType) setThreadIdType = nullptr;
    decltype(&::cuptiSubscribe_v2) subscribe2 = nullptr;  ///< 13.0: tells who holds the subscription

    /// 12.9 and later take "no buffer" for an answer; before that CUPTI may crash on it.
    [[nodiscard]] bool mayRefuseBuffers() const { return version >= 27; }
    /// "CUPTI_ERROR_NOT_INITIALIZED (15)".
    [[nodiscard]] std::string describe(CUptiResult) const;
};

/// Looks in this order: `path` if it is not empty (and nowhere else), a CUPTI that the process has loaded,
/// libcupti.so.13, libcupti.so.12. On nullopt, `problem` is one sentence.
[[nodiscard]] std::optional<CuptiTable> loadCupti(const std::string& path, std::string& problem);

/// Hands NVTX's initialisation on to CUPTI, which then records ranges. 0 where this CUPTI does not know NVTX.
[[nodiscard]] int forwardNvtx(const CuptiTable&, void* getExportTable);

}  // namespace fp8scope::inject

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cuda_stand_in/scripted_cupti.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

/// The calling thread's unfinished buffer.
struct ThreadBuffer {
    std::mutex mutex;  // CUPTI's own lock: held while it calls back, as in the real one
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0, used = 0;
};

struct State {
    std::mutex mutex;
    std::vector<std::shared_ptr<ThreadBuffer>> buffers;
    std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> callbacks;
    std::atomic<std::uint64_t> enabledKinds{0};
    std::atomic<std::size_t> dropped{0};
    CUpti_BuffersCallbackRequestFunc request = nullptr;
    CUpti_BuffersCallbackCompleteFunc complete = nullptr;
    CUpti_CallbackFunc callback = nullptr;
    void* userData = nullptr;
};

State& state()
{
    static State* const theState = new State;  // outlives every thread, as CUPTI does
    return *theState;
}

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::uint32_t version()
{
    const std::string text = variable("SCRIPTED_CUPTI_VERSION");
    return text.empty() ? 130001 : static_cast<std::uint32_t>(std::stoul(text));
}

/// The error that the script wants of a function.
CUptiResult scriptedResult(const std::string& function)
{
    const std::string script = "," + variable("SCRIPTED_CUPTI_FAIL") + ",";
    const std::size_t at = script.find("," + function + "=");
    if (at == std::string::npos)
        return CUPTI_SUCCESS;
    return static_cast<CUptiResult>(std::stoi(script.substr(at + function.size() + 2)));
}

/// Bytes of a record in a buffer: the struct of this CUPTI's version, rounded up to eight.
std::size_t recordBytes(CUpti_ActivityKind kind)
{
    const bool isCuda13 = version() >= 130000;
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return isCuda13 ? sizeof(CUpti_ActivityKernel10) : sizeof(CUpti_ActivityKernel9);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return isCuda13 ? sizeof(CUpti_ActivityMemcpy6) : sizeof(CUpti_ActivityMemcpy5);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return isCuda13 ? sizeof(CUpti_ActivitySynchronization2) : sizeof(CUpti_ActivitySynchronization);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return isCuda13 ? sizeof(CUpti_ActivityOverhead3) : sizeof(CUpti_ActivityOverhead2);
    case CUPTI_ACTIVITY_KIND_MARKER: return sizeof(CUpti_ActivityMarker2);
    case CUPTI_ACTIVITY_KIND_MEMORY2: return isCuda13 ? sizeof(CUpti_ActivityMemory4) : sizeof(CUpti_ActivityMemory3);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return isCuda13 ? sizeof(CUpti_ActivityGraphTrace2) : sizeof(CUpti_ActivityGraphTrace);
    case CUPTI_ACTIVITY_KIND_DEVICE: return isCuda13 ? sizeof(CUpti_ActivityDevice5) : sizeof(CUpti_ActivityDevice4);
    default: return sizeof(CUpti_Activity) + 4;
    }
}

ThreadBuffer& threadBuffer()
{
    thread_local const std::shared_ptr<ThreadBuffer> buffer = [] {
        auto made = std::make_shared<ThreadBuffer>();
        const std::lock_guard lock(state().mutex);
        state().buffers.push_back(made);
        return made;
    }();
    return *buffer;
}

void completeLocked(ThreadBuffer& buffer)
{
    if (buffer.bytes != nullptr)
        state().complete(nullptr, 0, std::exchange(buffer.bytes, nullptr), buffer.size, buffer.used);
    buffer.size = buffer.used = 0;
}

bool makeRoomLocked(ThreadBuffer& buffer, std::size_t bytes)
{
    if (buffer.bytes != nullptr && buffer.used + bytes > buffer.size)
        completeLocked(buffer);
    if (buffer.bytes == nullptr) {
        std::size_t maxRecords = 0;
        state().request(&buffer.bytes, &buffer.size, &maxRecords);
    }
    return buffer.bytes != nullptr && bytes <= buffer.size;
}

std::uint64_t bitOf(CUpti_ActivityKind kind) { return std::uint64_t{1} << static_cast<unsigned>(kind); }

/// What the newest CUPTI tells about the one GPU of the stand-in.
void emitDevice()
{
    CUpti_ActivityDevice5 device{};
    device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    device.name = "Stand-in GPU";
    device.computeCapabilityMajor = 9;
    device.numMultiprocessors = 132;
    device.globalMemorySize = std::uint64_t{80} << 30;
    device.globalMemoryBandwidth = 3'350'000'000;
    scripted_emit(&device, sizeof device);
}

}  // namespace

#define STAND_IN extern "C" __attribute__((visibility("default"))) CUptiResult

extern "C" __attribute__((visibility("default"))) int scripted_enabled(CUpti_ActivityKind kind)
{
    return (state().enabledKinds.load() & bitOf(kind)) != 0;
}

extern "C" __attribute__((visibility("default"))) void scripted_emit(const void* record, std::size_t bytes)
{
    CUpti_ActivityKind kind{};
    std::memcpy(&kind, record, sizeof kind);
    if (!scripted_enabled(kind))
        return;
    const std::size_t size = (recordBytes(kind) + 7) / 8 * 8;
    ThreadBuffer& buffer = threadBuffer();
    const std::lock_guard lock(buffer.mutex);
    if (!makeRoomLocked(buffer, size)) {
        ++state().dropped;
        return;
    }
    std::memset(buffer.bytes + buffer.used, 0, size);
    std::memcpy(buffer.bytes + buffer.used, record, std::min(bytes, size));
    buffer.used += size;
}

extern "C" __attribute__((visibility("default"))) void
scripted_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site)
{
    {
        const std::lock_guard lock(state().mutex);
        if (state().callback == nullptr || !state().callbacks.contains({domain, id}))
            return;
    }
    CUpti_CallbackData call{};
    call.callbackSite = site;
    CUpti_ResourceData resource{};
    const void* data = domain == CUPTI_CB_DOMAIN_RESOURCE ? static_cast<const void*>(&resource) : &call;
    state().callback(state().userData, domain, id, data);
}

STAND_IN cuptiGetVersion(std::uint32_t* value)
{
    *value = version();
    return CUPTI_SUCCESS;
}

STAND_IN cuptiGetResultString(CUptiResult result, const char** text)
{
    *text = result == CUPTI_ERROR_NOT_INITIALIZED ? "CUPTI_ERROR_NOT_INITIALIZED" : "CUPTI_ERROR_OF_THE_SCRIPT";
    return CUPTI_SUCCESS;
}

STAND_IN cuptiGetTimestamp(std::uint64_t* value)
{
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    *value = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
    return CUPTI_SUCCESS;
}

STAND_IN cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* userData)
{
    if (const CUptiResult failure = scriptedResult("cuptiSubscribe"); failure != CUPTI_SUCCESS)
        return failure;
    const std::lock_guard lock(state().mutex);
    state().callback = callback;
    state().userData = userData;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&state());
    return CUPTI_SUCCESS;
}

STAND_IN cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* userData,
                           CUpti_SubscriberParams* parameters)
{
    const CUptiResult result = cuptiSubscribe(subscriber, callback, userData);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        std::strncpy(parameters->oldSubscriberName, variable("SCRIPTED_CUPTI_HOLDER").c_str(),
                     parameters->oldSubscriberSize - 1);
    return result;
}

STAND_IN cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }
STAND_IN cuptiActivitySetAttribute(CUpti_ActivityAttribute, std::size_t*, void*) { return CUPTI_SUCCESS; }

STAND_IN cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                             CUpti_CallbackId id)
{
    const std::lock_guard lock(state().mutex);
    if (enable != 0)
        state().callbacks.insert({domain, id});
    else
        state().callbacks.erase({domain, id});
    return CUPTI_SUCCESS;
}

STAND_IN cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name)
{
    const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    if (runtime && id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000)
        *name = "cudaLaunchKernel_v7000";
    else if (runtime && id == CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000)
        *name = "cudaGraphLaunch_v10000";
    else if (!runtime && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
        *name = "cuLaunchKernel";
    else
        return CUPTI_ERROR_INVALID_PARAMETER;
    return CUPTI_SUCCESS;
}

STAND_IN cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                        CUpti_BuffersCallbackCompleteFunc complete)
{
    state().request = request;
    state().complete = complete;
    return scriptedResult("cuptiActivityRegisterCallbacks");
}

STAND_IN cuptiActivityEnable(CUpti_ActivityKind kind)
{
    if (const CUptiResult failure = scriptedResult("cuptiActivityEnable"); failure != CUPTI_SUCCESS)
        return failure;
    state().enabledKinds |= bitOf(kind);
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
        emitDevice();
    return CUPTI_SUCCESS;
}

STAND_IN cuptiActivityDisable(CUpti_ActivityKind kind)
{
    state().enabledKinds &= ~bitOf(kind);
    return CUPTI_SUCCESS;
}

STAND_IN cuptiActivityFlushAll(std::uint32_t)
{
    std::vector<std::shared_ptr<ThreadBuffer>> buffers;
    {
        const std::lock_guard lock(state().mutex);
        buffers = state().buffers;
    }
    for (const auto& buffer : buffers) {
        const std::lock_guard lock(buffer->mutex);
        completeLocked(*buffer);
    }
    return CUPTI_SUCCESS;
}

STAND_IN cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t used, CUpti_Activity** record)
{
    std::size_t offset = 0;
    if (*record != nullptr) {
        offset = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer);
        offset += (recordBytes((*record)->kind) + 7) / 8 * 8;
    }
    if (offset >= used)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    auto* next = reinterpret_cast<CUpti_Activity*>(buffer + offset);
    if (next->kind == CUPTI_ACTIVITY_KIND_INVALID)
        return CUPTI_ERROR_INVALID_KIND;
    *record = next;
    return CUPTI_SUCCESS;
}

STAND_IN cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped)
{
    *dropped = state().dropped.exchange(0);
    return CUPTI_SUCCESS;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(void*) { return 1; }

// SPDX-License-Identifier: Apache-2.0
#include "collector/inject/cupti_table.h"

#include <array>
#include <dlfcn.h>

namespace fp8scope::inject {

namespace {

constexpr std::array kSonames{"libcupti.so.13", "libcupti.so.12"};

/// A copy that the process has already, as PyTorch ships one of its own, is the only one whose records would come.
void* loadedLibrary()
{
    for (const char* soname : kSonames) {
        if (void* handle = ::dlopen(soname, RTLD_NOW | RTLD_NOLOAD))
            return handle;
    }
    return nullptr;
}

void* openLibrary(const std::string& path, std::string& problem)
{
    if (!path.empty()) {
        void* handle = ::dlopen(path.c_str(), RTLD_NOW);
        if (handle == nullptr)
            problem = "the CUPTI that --cupti names cannot be loaded: " + std::string(::dlerror());
        return handle;
    }
    if (void* handle = loadedLibrary())
        return handle;
    for (const char* soname : kSonames) {
        if (void* handle = ::dlopen(soname, RTLD_NOW))
            return handle;
    }
    problem =
        "CUPTI was not found (libcupti.so.13 or .12); add the CUDA toolkit's extras/CUPTI/lib64 to LD_LIBRARY_PATH "
        "or name the file with --cupti";
    return nullptr;
}

template <typename Function>
bool resolve(void* handle, const char* symbol, Function& function)
{
    function = reinterpret_cast<Function>(::dlsym(handle, symbol));
    return function != nullptr;
}

bool resolveRequired(CuptiTable& t)
{
    return resolve(t.handle, "cuptiGetVersion", t.getVersion) &&
           resolve(t.handle, "cuptiGetResultString", t.getResultString) &&
           resolve(t.handle, "cuptiSubscribe", t.subscribe) &&
           resolve(t.handle, "cuptiEnableCallback", t.enableCallback) &&
           resolve(t.handle, "cuptiGetCallbackName", t.getCallbackName) &&
           resolve(t.handle, "cuptiGetTimestamp", t.getTimestamp) &&
           resolve(t.handle, "cuptiActivityRegisterCallbacks", t.registerCallbacks) &&
           resolve(t.handle, "cuptiActivityEnable", t.enable) && resolve(t.handle, "cuptiActivityDisable", t.disable) &&
           resolve(t.handle, "cuptiActivityFlushAll", t.flushAll) &&
           resolve(t.handle, "cuptiActivityGetNextRecord", t.getNextRecord) &&
           resolve(t.handle, "cuptiActivityGetNumDroppedRecords", t.getNumDroppedRecords) &&
           resolve(t.handle, "cuptiActivitySetAttribute", t.setAttribute);
}

}  // namespace

std::string CuptiTable::describe(CUptiResult result) const
{
    const char* text = nullptr;
    const bool known = getResultString(result, &text) == CUPTI_SUCCESS && text != nullptr;
    return (known ? std::string(text) : std::string("an error unknown to CUPTI")) + " (" +
           std::to_string(static_cast<int>(result)) + ")";
}

std::optional<CuptiTable> loadCupti(const std::string& path, std::string& problem)
{
    CuptiTable table;
    table.handle = openLibrary(path, problem);
    if (table.handle == nullptr)
        return std::nullopt;
    if (!resolveRequired(table) || table.getVersion(&table.version) != CUPTI_SUCCESS) {
        problem = "the CUPTI library lacks functions that fp8scope needs; use that of CUDA 12.0 or later";
        return std::nullopt;
    }
    constexpr std::uint32_t kCuda120 = 19;
    if (table.version < kCuda120) {
        problem =
            "CUPTI is of version " + std::to_string(table.version) + ", older than CUDA 12.0's (19); use a newer one";
        return std::nullopt;
    }
    resolve(table.handle, "cuptiSetThreadIdType", table.setThreadIdType);
    resolve(table.handle, "cuptiSubscribe_v2", table.subscribe2);
    return table;
}

int forwardNvtx(const CuptiTable& cupti, void* getExportTable)
{
    int (*initialize)(void*) = nullptr;
    return resolve(cupti.handle, "InitializeInjectionNvtx2", initialize) ? initialize(getExportTable) : 0;
}

}  // namespace fp8scope::inject

// SPDX-License-Identifier: Apache-2.0
// What the CUDA driver does at cuInit: it loads the library that CUDA_INJECTION64_PATH names and calls it, once.
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

extern "C" __attribute__((visibility("default"))) int cuInit(unsigned)
{
    static std::once_flag once;
    std::call_once(once, [] {
        const char* path = std::getenv("CUDA_INJECTION64_PATH");
        void* library = path != nullptr ? ::dlopen(path, RTLD_NOW) : nullptr;
        auto* initialize =
            library != nullptr ? reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection")) : nullptr;
        if (initialize != nullptr)
            initialize();
    });
    return 0;
}

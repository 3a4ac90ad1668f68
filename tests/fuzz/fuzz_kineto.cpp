// SPDX-License-Identifier: Apache-2.0
// Any text as a PyTorch trace or Chrome trace, up to a finished trace.
#include "collector/import/assemble.h"
#include "collector/import/kineto_reader.h"
#include "collector/trace/error.h"

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    using namespace fp8scope;
    // Small blocks, so that events are cut everywhere; one thread, so that runs do not depend on timing.
    constexpr std::size_t kBlockBytes = 4096;
    const auto source = import::openMemory(std::string_view(reinterpret_cast<const char*>(bytes), size));
    try {
        (void)import::assemble(import::readKineto(*source, "fuzz.json", {.threads = 1}, kBlockBytes));
    } catch (const Error&) {
    }
    return 0;
}

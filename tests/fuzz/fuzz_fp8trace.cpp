// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .fp8trace.
#include "collector/trace/error.h"
#include "collector/trace/trace_reader.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    using namespace fp8scope;
    const test::MemoryFile file(bytes, size);
    try {
        (void)loadTrace(file.path(), {.threads = 1});
    } catch (const Error&) {
    }
    return 0;
}

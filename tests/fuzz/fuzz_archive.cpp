// SPDX-License-Identifier: Apache-2.0
// Any bytes as whatever they look like: recognition, gzip, tar, ranks.
#include "collector/import/import.h"
#include "collector/trace/error.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    using namespace fp8scope;
    const test::MemoryFile file(bytes, size);
    const std::filesystem::path paths[] = {file.path()};
    try {
        (void)import::importFiles(paths, {.threads = 1});
    } catch (const Error&) {
    }
    return 0;
}

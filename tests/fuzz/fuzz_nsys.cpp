// SPDX-License-Identifier: Apache-2.0
// Any bytes as an nsys export, up to a finished trace.
#include "collector/import/assemble.h"
#include "collector/import/nsys_reader.h"
#include "collector/trace/error.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size)
{
    using namespace fp8scope;
    const test::MemoryFile file(bytes, size);
    try {
        (void)import::assemble(import::readNsys(file.path()));
    } catch (const Error&) {
    }
    return 0;
}

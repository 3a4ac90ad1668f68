// SPDX-License-Identifier: Apache-2.0
// Writes what the fuzzers start from: a small good file of every generation, and the damaged ones. Usage: fuzz_seeds
// FOLDER, which gets a folder for each fuzzer.
#include "collector/trace/trace_writer.h"
#include "tests/support/kineto_json.h"
#include "tests/support/loop_trace.h"
#include "tests/support/nsys_database.h"

#include <sqlite3.h>

#include <fstream>
#include <iostream>

namespace fp8scope::test {
namespace {

/// The smaller the file, the more of it that mutations reach.
void writeSmallPages(const std::filesystem::path& path)
{
    sqlite3* db = nullptr;
    sqlite3_open(path.c_str(), &db);
    sqlite3_exec(db, "PRAGMA page_size = 512; VACUUM", nullptr, nullptr, nullptr);
    sqlite3_close(db);
}

void writeSeeds(const std::filesystem::path& folder)
{
    for (const char* fuzzer : {"fuzz_kineto", "fuzz_nsys", "fuzz_archive", "fuzz_fp8trace"})
        std::filesystem::create_directories(folder / fuzzer);
    const ProfiledLoopShape small{.steps = 1, .layers = 1};
    for (const KinetoGeneration generation : kKinetoGenerations)
        std::ofstream(folder / "fuzz_kineto" / toString(generation))
            << kinetoJson({.generation = generation, .loop = small});
    for (const KinetoDamage damage : kKinetoDamages)
        std::ofstream(folder / "fuzz_kineto" / toString(damage)) << damaged(kinetoJson({.loop = small}), damage);
    for (const NsysGeneration generation : kNsysGenerations) {
        const std::filesystem::path path = folder / "fuzz_nsys" / toString(generation);
        writeNsysDatabase(path, {.generation = generation, .loop = small});
        writeSmallPages(path);
        std::filesystem::copy_file(path, folder / "fuzz_archive" / toString(generation),
                                   std::filesystem::copy_options::overwrite_existing);
    }
    std::ofstream(folder / "fuzz_archive/rank0.json") << kinetoJson({.loop = small, .rank = 0});
    saveTrace(makeLoopTrace({.slices = 50, .modes = {"fp8"}, .layers = 1}), folder / "fuzz_fp8trace/trace",
              TraceWriter::IfExists::Replace);
    std::filesystem::remove(folder / "fuzz_fp8trace/trace-lock");
}

}  // namespace
}  // namespace fp8scope::test

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::cerr << "usage: fuzz_seeds FOLDER\n";
        return 2;
    }
    fp8scope::test::writeSeeds(argv[1]);
    return 0;
}

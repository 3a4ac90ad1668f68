// SPDX-License-Identifier: Apache-2.0
// What importing PyTorch's JSON costs, on a generated file of a million events (ops, launches, kernels, their arrows;
// 230 bytes each): seconds and MB/s to a finished trace, against simdjson merely walking the same text in the same run,
// and the most memory that the import held. Usage: bench_import [MEGABYTES [FOLDER]]; default 230 in the temporary
// folder; 10000 tries what must work with less than 4 GB.
#include "collector/import/assemble.h"
#include "collector/import/import.h"
#include "collector/import/kineto_reader.h"
#include "collector/trace/error.h"
#include "tests/support/temporary_folder.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fp8scope::import {
namespace {

constexpr int kRepeats = 5;
constexpr double kMegabyte = 1e6;
constexpr std::uint64_t kMostToWalk = std::uint64_t{2}
                                      << 30;  ///< simdjson needs the text, and 4 bytes an index, at once

constexpr std::array<std::string_view, 8> kOps{"aten::linear", "aten::_scaled_mm", "aten::copy_", "aten::abs",
                                               "aten::max",    "aten::mul",        "aten::clamp", "aten::to"};
constexpr std::array<std::string_view, 4> kKernels{
    "nvjet_qqtst_128x256_128x6_2x1_v_bz_coopA_bias_TNT",
    "void at::native::vectorized_elementwise_kernel<4, at::native::float8_copy_kernel_cuda(at::TensorIteratorBase&)>",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MaxOps<float>, unsigned int>>",
    "triton_poi_fused__to_copy_clamp_mul_0"};

std::string microseconds(std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

/// Five events: an op, its launch, the arrow, the kernel, the arrow's end.
void appendUnit(std::string& text, std::uint64_t i)
{
    const std::uint64_t at = 1'000'000 + i * 7'137;
    const auto add = [&text]<typename... Parts>(std::string_view format, Parts&&... parts) {
        fmt::format_to(std::back_inserter(text), fmt::runtime(format), std::forward<Parts>(parts)...);
    };
    add("  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{}\", \"pid\": 4242, \"tid\": 4242,\n    \"ts\": "
        "{}, "
        "\"dur\": 6.120,\n    \"args\": {{\n      \"External id\": {},\"Ev Idx\": {}, "
        "\"Input "
        "Dims\": [[{}, 4096], [4096, 128]], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\"]\n    }}\n  }},\n",
        kOps[i % kOps.size()], microseconds(at), i + 1, i, 128 * (i % 16 + 1));
    add("  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 4242, \"tid\": "
        "4242,\n    \"ts\": {}, \"dur\": 3.004,\n    \"args\": {{\n      \"External id\": {}, \"cbid\": 211, "
        "\"correlation\": {}\n    }}\n  }},\n",
        microseconds(at + 1'500), i + 1, i + 1);
    add("  {{\n    \"ph\": \"s\", \"id\": {}, \"pid\": 4242, \"tid\": 4242, \"ts\": {},\n    \"cat\": \"ac2g\", "
        "\"name\": \"ac2g\"\n  }},\n",
        i + 1, microseconds(at + 1'500));
    add("  {{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{}\", \"pid\": 0, \"tid\": 7,\n    \"ts\": {}, "
        "\"dur\": 5.312,\n    \"args\": {{\n      \"External id\": {},\"device\": 0, "
        "\"context\": 1,\n      \"stream\": 7, \"correlation\": {},\n      \"registers per thread\": 168,\n      "
        "\"shared memory\": 213248,\n      \"grid\": "
        "[{}, 1, 1],\n      \"block\": [384, 1, 1],\n      \"est. achieved occupancy %\": 19\n    }}\n  }},\n",
        kKernels[i % kKernels.size()], microseconds(at + 9'000), i + 1, i + 1, 16 * (i % 8 + 1));
    add("  {{\n    \"ph\": \"f\", \"id\": {}, \"pid\": 0, \"tid\": 7, \"ts\": {},\n    \"cat\": \"ac2g\", \"name\": "
        "\"ac2g\", \"bp\": \"e\"\n  }},\n",
        i + 1, microseconds(at + 9'000));
}

/// Gives the number of events.
std::uint64_t writeTrace(const std::filesystem::path& path, std::uint64_t bytes)
{
    std::ofstream file(path, std::ios::binary);
    std::string text =
        "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"NVIDIA "
        "H100 80GB HBM3\", \"computeMajor\": 9, \"computeMinor\": 0, \"numSms\": 132\n    }\n  ],\n  "
        "\"baseTimeNanoseconds\": 1767189312000000000,\n  \"traceEvents\": [\n";
    std::uint64_t written = 0;
    std::uint64_t units = 0;
    while (written + text.size() < bytes) {
        appendUnit(text, units++);
        if (text.size() < (std::size_t{1} << 20))
            continue;
        file << text;
        written += text.size();
        text.clear();
    }
    file << text
         << "  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\", \"pid\": \"\", \"tid\": \"\", "
            "\"ts\": 1\n  }\n  ]\n}\n";
    if (!file.flush())
        throw Error("cannot be written", path.string(), "name a folder with room");
    return units * 5 + 1;
}

/// Two fields of each event, as a reader that wants nothing else would.
std::uint64_t walk(const simdjson::padded_string& text)
{
    namespace ondemand = simdjson::ondemand;
    ondemand::parser parser;
    ondemand::document document = parser.iterate(text);
    std::uint64_t sum = 0;
    for (ondemand::object event : document["traceEvents"].get_array()) {
        const std::string_view phase = event["ph"].get_string();
        double ts = 0;
        if (event["ts"].get_double().get(ts) == simdjson::SUCCESS)
            sum += phase.size() + static_cast<std::uint64_t>(ts);
    }
    return sum;
}

double best(const std::function<void()>& work)
{
    double seconds = 1e300;
    for (int i = 0; i < kRepeats; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        seconds = std::min(seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return seconds;
}

/// The most memory that a process of its own holds while it does the work, in bytes.
std::uint64_t peakOf(const std::function<void()>& work)
{
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
        int code = 0;
        try {
            work();
        } catch (const std::exception& e) {
            fmt::print(stderr, "bench_import: {}\n", e.what());
            code = 1;
        }
        std::fflush(stdout);
        ::_exit(code);
    }
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    if (status != 0)
        throw Error("the import failed", "", "see above");
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void benchmarkImport(std::uint64_t bytes, const std::filesystem::path& folder)
{
    const std::filesystem::path path = folder / "generated.json";
    const std::uint64_t events = writeTrace(path, bytes);
    const auto size = static_cast<double>(std::filesystem::file_size(path));
    fmt::print("{:.1f} MB, {} events\n", size / kMegabyte, events);

    const auto line = [&](const char* what, double seconds) {
        fmt::print("  {:<44}{:8.3f} s {:8.0f} MB/s\n", what, seconds, size / kMegabyte / seconds);
    };
    const std::uint64_t peak = peakOf([&] {
        const auto begin = std::chrono::steady_clock::now();
        const Trace trace = importFiles(std::span(&path, 1));
        line("import to a finished trace, once",
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        fmt::print("  {} slices\n", trace.sliceCount());
    });
    fmt::print("  most memory held: {:.0f} MB, {:.2f} of the text\n", static_cast<double>(peak) / kMegabyte,
               static_cast<double>(peak) / size);
    if (static_cast<std::uint64_t>(size) > kMostToWalk)
        return;

    const simdjson::padded_string text = simdjson::padded_string::load(path.string());
    const double walked = best([&] { benchmark::DoNotOptimize(walk(text)); });
    line("baseline: simdjson walks it, two fields an event", walked);
    const double read = best([&] {
        const auto source = openFile(path);
        benchmark::DoNotOptimize(readKineto(*source, "generated.json"));
    });
    line("reading to raw events", read);
    for (const unsigned threads : {1U, 2U}) {
        const double imported =
            best([&] { benchmark::DoNotOptimize(importFiles(std::span(&path, 1), {.threads = threads})); });
        line(fmt::format("import to a finished trace, {} thread{}", threads, threads == 1 ? "" : "s").c_str(),
             imported);
        fmt::print("  ratio: {:.2f} times the walk\n", imported / walked);
    }
}

}  // namespace
}  // namespace fp8scope::import

int main(int argc, char** argv)
{
    try {
        const std::uint64_t megabytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 230;
        const fp8scope::test::TemporaryFolder scratch;
        fp8scope::import::benchmarkImport(megabytes * 1'000'000,
                                          argc > 2 ? std::filesystem::path(argv[2]) : scratch.path());
    } catch (const std::exception& e) {
        fmt::print(stderr, "bench_import: {}\n", e.what());
        return 1;
    }
    return 0;
}

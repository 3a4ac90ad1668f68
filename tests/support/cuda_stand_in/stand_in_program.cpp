// SPDX-License-Identifier: Apache-2.0
// A program that a collector test records: it initialises the stand-in driver and causes the records that its options
// ask for. Prints, as one line of JSON, what it caused. `stand_in_program --help` lists the options.
#include "tests/support/cuda_stand_in/scripted_cupti.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

struct Options {
    std::uint64_t launches = 100;  // a thread
    unsigned threads = 1;
    unsigned names = 10;
    std::size_t nameBytes = 0;
    std::uint64_t perSecond = 0;
    bool copies = false, ranges = false, graph = false, oddities = false, profilerRange = false;
    bool closeDescriptors = false, changeFolder = false, contextEnd = false;
    std::string fork;  // "plain": the child launches without exec; "exec": it runs this program again
    unsigned children = 0;
    int waitMs = 0;
    std::string end = "return";
    int exitCode = 0;
};

std::uint64_t now()
{
    std::uint64_t time = 0;
    cuptiGetTimestamp(&time);
    return time;
}

template <typename Record>
void emit(const Record& record)
{
    scripted_emit(&record, sizeof record);
}

std::vector<std::string> mangledNames(const Options& options)
{
    std::vector<std::string> names;
    for (unsigned i = 0; i < options.names; ++i) {
        const std::string name = "kernel" + std::to_string(i) + std::string(options.nameBytes, 'x');
        names.push_back("_Z" + std::to_string(name.size()) + name + "v");
    }
    return names;
}

/// Kernel names as a compiler mangles them. Never destroyed: CUPTI keeps names past the end of main.
const std::vector<std::string>& kernelNames(const Options& options)
{
    static const auto* const names = new std::vector<std::string>(mangledNames(options));
    return *names;
}

constexpr std::uint64_t kLaunchNs = 2000;
std::uint64_t kernelNs(std::uint64_t i) { return 500 + i % 7 * 10; }

void launch(const Options& options, unsigned thread, std::uint64_t i, std::uint64_t base)
{
    const auto correlation = static_cast<std::uint32_t>((std::uint64_t{thread} << 24) + i + 1);
    CUpti_ActivityAPI call{};
    call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
    call.start = base + i * kLaunchNs;
    call.end = call.start + 900;
    call.processId = static_cast<std::uint32_t>(::getpid());
    call.threadId = static_cast<std::uint32_t>(::gettid());
    call.correlationId = correlation;
    emit(call);

    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.name = kernelNames(options)[i % options.names].c_str();
    kernel.start = call.start + 1000;
    kernel.end = kernel.start + kernelNs(i);
    kernel.contextId = 1;
    kernel.streamId = 7 + thread;
    kernel.gridX = static_cast<int>(1 + i % 4);
    kernel.gridY = kernel.gridZ = 1;
    kernel.blockX = 256;
    kernel.blockY = kernel.blockZ = 1;
    kernel.registersPerThread = 32;
    kernel.correlationId = correlation;
    emit(kernel);
}

void emitCopies(std::uint64_t base)
{
    CUpti_ActivityMemcpy6 copy{};
    copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    copy.bytes = 1 << 20;
    copy.start = base;
    copy.end = base + 4000;
    copy.contextId = 1;
    copy.streamId = 7;
    emit(copy);
    CUpti_ActivityMemset4 set{};
    set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    set.bytes = 4096;
    set.start = base + 5000;
    set.end = base + 6000;
    set.contextId = 1;
    set.streamId = 7;
    emit(set);
    CUpti_ActivitySynchronization2 wait{};
    wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    wait.start = base + 6000;
    wait.end = base + 9000;
    wait.contextId = 1;
    emit(wait);
}

void emitMarker(std::uint32_t id, CUpti_ActivityFlag flags, std::uint64_t time, const char* name)
{
    CUpti_ActivityMarker2 marker{};
    marker.kind = CUPTI_ACTIVITY_KIND_MARKER;
    marker.flags = flags;
    marker.id = id;
    marker.timestamp = time;
    marker.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    marker.objectId.pt.processId = static_cast<std::uint32_t>(::getpid());
    marker.objectId.pt.threadId = static_cast<std::uint32_t>(::gettid());
    marker.name = name;
    emit(marker);
}

void emitRanges(std::uint64_t base)
{
    emitMarker(1, CUPTI_ACTIVITY_FLAG_MARKER_START, base, "step 1");
    emitMarker(2, CUPTI_ACTIVITY_FLAG_MARKER_START, base + 100, "left open");
    emitMarker(3, CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, base + 200, "a mark");
    emitMarker(1, CUPTI_ACTIVITY_FLAG_MARKER_END, base + 9000, nullptr);
}

void emitGraph(std::uint64_t base)
{
    CUpti_ActivityGraphTrace2 graph{};
    graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    graph.graphId = 5;
    graph.start = base;
    graph.end = base + 70'000;
    graph.contextId = 1;
    graph.streamId = 7;
    emit(graph);
}

/// One record each of what CUPTI gives when it lost something, and one of a kind from the future.
void emitOddities(std::uint64_t base)
{
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.name = "no_times";
    kernel.streamId = 7;
    kernel.contextId = 1;
    emit(kernel);
    kernel.name = "no_end";
    kernel.start = base;
    emit(kernel);
    kernel.name = "backwards";
    kernel.end = base - 100;
    emit(kernel);
    kernel.name = nullptr;
    kernel.end = base + 100;
    emit(kernel);
}

void work(const Options& options, unsigned thread)
{
    const std::uint64_t base = now();
    const auto started = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < options.launches; ++i) {
        launch(options, thread, i, base);
        constexpr std::uint64_t kBurst = 64;
        if (options.perSecond > 0 && i % kBurst == 0)
            std::this_thread::sleep_until(started + std::chrono::nanoseconds(i * 1'000'000'000 / options.perSecond));
    }
}

void runThreads(const Options& options)
{
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < options.threads; ++t)
        threads.emplace_back([&, t] { work(options, t); });
    work(options, 0);
    for (std::thread& thread : threads)
        thread.join();
}

void runExtras(const Options& options)
{
    const std::uint64_t base = now();
    if (options.copies)
        emitCopies(base);
    if (options.ranges)
        emitRanges(base);
    if (options.graph)
        emitGraph(base);
    if (options.oddities)
        emitOddities(base);
}

void waitForChildren()
{
    while (::wait(nullptr) > 0) {
    }
}

void runChildren(const Options& options, char** argv)
{
    for (unsigned i = 0; i < options.children; ++i) {
        if (::fork() == 0) {
            const std::string launches = std::to_string(options.launches);
            ::execl(argv[0], argv[0], "--launches", launches.c_str(), static_cast<char*>(nullptr));
            ::_exit(127);
        }
        if (i % 8 == 7)
            waitForChildren();
    }
    waitForChildren();
}

/// A child that goes on without exec: CUDA does not work there, and its work must not be taken for the parent's.
void forkPlainly(const Options& options)
{
    if (::fork() == 0) {
        work(options, 60);
        ::exit(0);
    }
    waitForChildren();
}

int finish(const Options& options)
{
    if (options.end == "_exit")
        ::_exit(options.exitCode);
    if (options.end == "abort")
        std::abort();
    if (options.end == "kill")
        ::raise(SIGKILL);
    return options.exitCode;
}

}  // namespace

int main(int argc, char** argv)
{
    Options options;
    CLI::App app("Causes CUPTI records");
    app.add_option("--launches", options.launches, "Launches (and kernels) a thread");
    app.add_option("--threads", options.threads, "Threads that launch");
    app.add_option("--names", options.names, "Distinct kernels");
    app.add_option("--name-bytes", options.nameBytes, "Length of their names");
    app.add_option("--per-second", options.perSecond, "Launches a second and thread; 0: as many as it can");
    app.add_flag("--copies", options.copies, "A copy, a memset, a wait");
    app.add_flag("--ranges", options.ranges, "NVTX ranges, one left open");
    app.add_flag("--graph", options.graph, "A graph launch as one record");
    app.add_flag("--oddities", options.oddities, "Kernels without times, end or name");
    app.add_flag("--profiler-range", options.profilerRange,
                 "Launch twice, the second time inside cudaProfilerStart/Stop");
    app.add_flag("--close-descriptors", options.closeDescriptors, "Close all but the standard ones before the work");
    app.add_flag("--change-folder", options.changeFolder, "chdir to / before the work");
    app.add_flag("--context-end", options.contextEnd, "Destroy the context after the work");
    app.add_option("--fork", options.fork, "plain: a child works without exec");
    app.add_option("--children", options.children, "Processes of this program to run");
    app.add_option("--wait-ms", options.waitMs, "Idle before the end");
    app.add_option("--end", options.end, "return, _exit, abort, kill");
    app.add_option("--exit-code", options.exitCode, "");
    CLI11_PARSE(app, argc, argv);

    cuInit(0);
    if (options.closeDescriptors)
        ::close_range(3, ~0U, 0);
    if (options.changeFolder)
        std::filesystem::current_path("/");
    if (!options.fork.empty())
        forkPlainly(options);
    if (options.profilerRange) {
        runThreads(options);
        scripted_callback(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_API_EXIT);
    }
    runThreads(options);
    runExtras(options);
    if (options.profilerRange) {
        scripted_callback(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, CUPTI_API_EXIT);
        runThreads(options);
    }
    if (options.contextEnd)
        scripted_callback(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_API_ENTER);
    runChildren(options, argv);
    std::this_thread::sleep_for(std::chrono::milliseconds(options.waitMs));
    return finish(options);
}

// SPDX-License-Identifier: Apache-2.0
#include "collector/inject/options.h"

#include "collector/wire/producer.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace fp8scope::inject {

namespace {

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

constexpr std::size_t kDefaultBufferMiB = 48;  // so that the library stays under 64 MiB
constexpr std::size_t kLeastBufferMiB = 4;

std::size_t bufferBytes(const std::string& mebibytes)
{
    char* end = nullptr;
    const unsigned long value = std::strtoul(mebibytes.c_str(), &end, 10);
    const bool number = !mebibytes.empty() && *end == '\0';
    return std::max<std::size_t>(number ? value : kDefaultBufferMiB, kLeastBufferMiB) << 20;
}

StartAt startAt(const std::string& word)
{
    if (word == "paused")
        return StartAt::Command;
    return word == "cuda-profiler" ? StartAt::CudaProfiler : StartAt::Once;
}

/// The first of torchrun's, Open MPI's, MPICH's and Slurm's variables that is set.
std::int32_t rankFromEnvironment()
{
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        const std::string text = variable(name);
        char* end = nullptr;
        const long rank = std::strtol(text.c_str(), &end, 10);
        if (!text.empty() && *end == '\0' && rank >= 0 && rank < (1L << 30))
            return static_cast<std::int32_t>(rank);
    }
    return -1;
}

/// The program and, if wanted, its arguments, with blanks between.
std::string commandLine(bool withArguments)
{
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!withArguments)
        text.resize(std::min(text.size(), text.find('\0')));
    while (!text.empty() && text.back() == '\0')
        text.pop_back();
    std::ranges::replace(text, '\0', ' ');
    return text.empty() ? std::string(::program_invocation_short_name) : text;
}

}  // namespace

Options optionsFromEnvironment()
{
    Options options;
    options.socket = variable(wire::kSocketVariable);
    options.token = variable(wire::kTokenVariable);
    options.cupti = variable(wire::kCuptiVariable);
    const auto kinds = wire::recordKindsFromString(variable(wire::kKindsVariable));
    options.kinds = kinds ? *kinds : *wire::recordKindsFromString(wire::kDefaultKinds);
    options.graphsAsOne = variable(wire::kGraphsVariable) == "as-one";
    options.commandLine = variable(wire::kCommandLineVariable) != "0";
    options.startAt = startAt(variable(wire::kStartVariable));
    options.maxBufferBytes = bufferBytes(variable(wire::kMemoryVariable));
    return options;
}

wire::Hello helloOf(const Options& options)
{
    wire::Hello hello = wire::helloOfThisProcess(options.token, commandLine(options.commandLine));
    hello.rank = rankFromEnvironment();
    return hello;
}

}  // namespace fp8scope::inject

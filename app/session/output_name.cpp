// SPDX-License-Identifier: Apache-2.0
#include "app/session/collect.h"
#include "collector/trace/error.h"

#include <cstdlib>
#include <ctime>
#include <unistd.h>

namespace fp8scope::session {

namespace {

std::string now(const char* format)
{
    const std::time_t time = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&time, &local);
    char text[32] = "";
    std::strftime(text, sizeof text, format, &local);
    return text;
}

std::string host()
{
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    return name;
}

std::string rank()
{
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        if (const char* value = std::getenv(name))
            return value;
    }
    return "0";
}

std::string expanded(char letter, const std::string& pattern)
{
    switch (letter) {
    case 'h': return host();
    case 'p': return std::to_string(::getpid());
    case 'r': return rank();
    case 'd': return now("%Y%m%d");
    case 't': return now("%H%M%S");
    case '%': return "%";
    default:
        throw Error(std::string("'%") + letter + "' means nothing in an output name", pattern,
                    "use %h host, %p process, %r rank, %d date, %t time, or %% for a percent sign");
    }
}

}  // namespace

std::filesystem::path expandOutputName(const std::string& pattern)
{
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%')
            name += pattern[i];
        else
            name += expanded(++i < pattern.size() ? pattern[i] : ' ', pattern);
    }
    return name;
}

}  // namespace fp8scope::session

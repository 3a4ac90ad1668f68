// SPDX-License-Identifier: Apache-2.0
#include "app/session/engine_output.h"

#include <fstream>
#include <string_view>

namespace fp8scope::session {

std::string engineComplaint(const std::filesystem::path& output)
{
    std::ifstream stream(output);
    std::string last = "the engine gave no reason";
    for (std::string line; std::getline(stream, line);)
        if (!line.empty())
            last = line;
    constexpr std::string_view kPrefix = "fp8scope engine-worker: ";
    return last.starts_with(kPrefix) ? last.substr(kPrefix.size()) : last;
}

}  // namespace fp8scope::session

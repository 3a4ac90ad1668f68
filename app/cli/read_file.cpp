// SPDX-License-Identifier: Apache-2.0
#include "app/cli/read_file.h"

#include "collector/trace/error.h"

#include <fstream>
#include <iterator>

namespace fp8scope::cli {

std::string readFile(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (!in)
        throw Error("cannot be read", path.string(), "check the path");
    return text;
}

}  // namespace fp8scope::cli

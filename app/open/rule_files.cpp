// SPDX-License-Identifier: Apache-2.0
#include "app/open/rule_files.h"

#include "app/analysis/classify/classify.h"
#include "collector/trace/error.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace fp8scope::open {
namespace {

/// Empty where neither variable is set.
std::filesystem::path ownRules()
{
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config != nullptr && *config != '\0')
        return std::filesystem::path(config) / "fp8scope" / "kernel_rules.toml";
    const char* home = std::getenv("HOME");
    if (home == nullptr || *home == '\0')
        return {};
    return std::filesystem::path(home) / ".config" / "fp8scope" / "kernel_rules.toml";
}

}  // namespace

std::string readText(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in.is_open() || in.bad() || std::filesystem::is_directory(path))
        throw Error("the file cannot be read", path.string(), "check the path and its permissions");
    return text;
}

analysis::KernelClassifier classifierOf(const std::vector<std::filesystem::path>& files)
{
    std::vector<std::pair<std::string, std::string>> own;
    for (const std::filesystem::path& file : files)
        own.emplace_back(file.string(), readText(file));
    std::error_code error;
    const std::filesystem::path usual = ownRules();
    if (!usual.empty() && std::filesystem::is_regular_file(usual, error))
        own.emplace_back(usual.string(), readText(usual));
    return analysis::classifierWith(own);
}

}  // namespace fp8scope::open

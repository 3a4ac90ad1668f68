// SPDX-License-Identifier: Apache-2.0
#include "app/cli/device_files.h"

#include "app/cli/read_file.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace fp8scope::cli {

std::filesystem::path userDeviceDirectory()
{
    const char* config = std::getenv("XDG_CONFIG_HOME");
    if (config != nullptr && *config != '\0')
        return std::filesystem::path(config) / "fp8scope" / "devices";
    const char* home = std::getenv("HOME");
    return std::filesystem::path(home != nullptr ? home : "") / ".config" / "fp8scope" / "devices";
}

predict::DeviceTable allDevices(const std::vector<std::filesystem::path>& files)
{
    std::vector<std::filesystem::path> paths;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(userDeviceDirectory(), none)) {
        if (entry.path().extension() == ".toml")
            paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    paths.insert(paths.end(), files.begin(), files.end());

    predict::DeviceTable table = predict::builtInDevices();
    for (const std::filesystem::path& path : paths)
        table.add(readFile(path), path.string());
    table.resolve();
    return table;
}

}  // namespace fp8scope::cli

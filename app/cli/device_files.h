// SPDX-License-Identifier: Apache-2.0
// The devices that a user can predict for: those built in, calibrated profiles, and files given by hand.
#pragma once

#include "engine/predict/device.h"

#include <filesystem>
#include <vector>

namespace fp8scope::cli {

/// $XDG_CONFIG_HOME/fp8scope/devices, or ~/.config/fp8scope/devices: where `calibrate` saves and `predict` looks.
[[nodiscard]] std::filesystem::path userDeviceDirectory();

/// Built-in devices, then *.toml of the user's directory in the order of their names, then `files`. Later ones replace
/// earlier ones of the same id. Throws Error for a file that cannot be read or is wrong.
[[nodiscard]] predict::DeviceTable allDevices(const std::vector<std::filesystem::path>& files);

}  // namespace fp8scope::cli

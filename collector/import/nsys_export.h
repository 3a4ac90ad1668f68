// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stop_token>

namespace fp8scope::import {

/// Has Nsight Systems' own `nsys export` write a report (.nsys-rep, .qdrep) as SQLite into `folder`, and gives the
/// file. Throws Error with the exact command where `nsys` is not on the PATH or fails; ImportCancelled (nsys is ended
/// then).
[[nodiscard]] std::filesystem::path exportNsysReport(const std::filesystem::path& report,
                                                     const std::filesystem::path& folder, const std::stop_token& stop);

}  // namespace fp8scope::import

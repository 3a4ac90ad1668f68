// SPDX-License-Identifier: Apache-2.0
// A folder for what has to be a file for a while (SQLite out of an archive); it goes with the object.
#pragma once

#include "collector/import/byte_source.h"

#include <filesystem>
#include <stop_token>
#include <string>

namespace fp8scope::import {

class ScratchFolder {
public:
    /// In the system's temporary folder, for the user only. Throws Error if it cannot be made.
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Writes a stream as a file. Throws Error (disk full), ImportCancelled.
    void write(const std::string& name, ByteSource& content, const std::stop_token& stop) const;

private:
    std::filesystem::path m_path;
};

}  // namespace fp8scope::import

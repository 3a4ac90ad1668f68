// SPDX-License-Identifier: Apache-2.0
#include "collector/import/scratch_folder.h"

#include "collector/import/import.h"
#include "collector/trace/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

namespace fp8scope::import {

ScratchFolder::ScratchFolder()
{
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    std::string pattern = ((error ? std::filesystem::path("/tmp") : parent) / "fp8scope-import-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
        throw Error(std::string("no folder can be made: ") + std::strerror(errno), pattern, "set TMPDIR to a folder");
    m_path = pattern;
}

ScratchFolder::~ScratchFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

void ScratchFolder::write(const std::string& name, ByteSource& content, const std::stop_token& stop) const
{
    std::ofstream file(m_path / name, std::ios::binary);
    std::string buffer(std::size_t{1} << 20, '\0');
    for (std::size_t n = buffer.size(); n == buffer.size();) {
        if (stop.stop_requested())
            throw ImportCancelled{};
        n = content.read(buffer);
        file.write(buffer.data(), static_cast<std::streamsize>(n));
    }
    file.flush();
    if (!file)
        throw Error("could not be unpacked", (m_path / name).string(),
                    "make room there, or set TMPDIR to another disk");
}

}  // namespace fp8scope::import

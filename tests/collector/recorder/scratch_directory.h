// SPDX-License-Identifier: Apache-2.0
// A directory for a test's files, removed with them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace fp8scope::test {

class ScratchDirectory {
public:
    ScratchDirectory()
    {
        std::string path = (std::filesystem::temp_directory_path() / "fp8scope-test-XXXXXX").string();
        if (::mkdtemp(path.data()) == nullptr)
            throw std::runtime_error("cannot make " + path);
        m_path = path;
    }
    ~ScratchDirectory()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return m_path / name; }

private:
    std::filesystem::path m_path;
};

}  // namespace fp8scope::test

// SPDX-License-Identifier: Apache-2.0
#include "collector/recorder/session_directory.h"

#include "collector/trace/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/un.h>

namespace fp8scope::recorder {

std::vector<std::filesystem::path> sessionRoots()
{
    std::vector<std::filesystem::path> roots;
    for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
        const char* value = std::getenv(variable);
        if (value != nullptr && *value == '/')
            roots.emplace_back(value);
    }
    roots.emplace_back("/tmp");
    return roots;
}

SessionDirectory::SessionDirectory(const std::vector<std::filesystem::path>& roots)
{
    std::string tried;
    for (const auto& root : roots) {
        std::string path = (root / "fp8scope-XXXXXX").string();
        const bool fits = path.size() + std::strlen("/socket") < sizeof(sockaddr_un::sun_path);
        if (fits && ::mkdtemp(path.data()) != nullptr) {  // mkdtemp gives mode 0700
            m_path = path;
            return;
        }
        tried +=
            (tried.empty() ? "" : ", ") + root.string() + " (" + (fits ? std::strerror(errno) : "path too long") + ")";
    }
    throw Error("cannot make a directory for the recorder's socket", tried,
                "set TMPDIR to a short path that can be written");
}

SessionDirectory::~SessionDirectory()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

}  // namespace fp8scope::recorder

// SPDX-License-Identifier: Apache-2.0
// Walks over the members of a tar archive as it streams by: ustar, GNU's and pax' long names and sizes.
#pragma once

#include "collector/import/byte_source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fp8scope::import {

struct TarMember {
    std::string name;
    std::uint64_t size = 0;
    bool isFile = false;  ///< a folder, link or device otherwise
};

class TarReader {
public:
    /// `name` is the archive's, for errors.
    TarReader(ByteSource& archive, std::string name);

    /// The next member, nullopt at the end. What was not read of the one before is passed over. Throws Error where the
    /// archive is damaged.
    [[nodiscard]] std::optional<TarMember> next();
    /// What is in the member that next() gave; ends with it. Valid until the next next().
    [[nodiscard]] std::unique_ptr<ByteSource> content();

private:
    friend class TarContent;
    bool readHeader(std::string& block);
    void skipRest();
    std::string readSmall(std::uint64_t size);

    ByteSource& m_archive;
    std::string m_name;
    std::uint64_t m_left = 0;     ///< of the member's content
    std::uint64_t m_padding = 0;  ///< behind it
};

/// Whether a file begins with a tar header, by its checksum.
[[nodiscard]] bool isTar(std::string_view head);
/// What operating systems put beside the files: AppleDouble "._x", ".DS_Store", "__MACOSX/".
[[nodiscard]] bool isHiddenMember(std::string_view name);

}  // namespace fp8scope::import

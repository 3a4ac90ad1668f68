// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a file come from: a plain file, one inside gzip, a piece of memory, a member of an archive.
// Readers stream: no file is held in memory as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fp8scope::import {

class ByteSource {
public:
    virtual ~ByteSource() = default;
    /// Fills the front of `into` and returns how much; less than asked only at the end, 0 after it. Throws Error when
    /// the medium fails.
    [[nodiscard]] virtual std::size_t read(std::span<char> into) = 0;
    /// Bytes of the file on disk, for progress: of a compressed one the compressed bytes.
    [[nodiscard]] virtual std::uint64_t consumed() const = 0;
    [[nodiscard]] virtual std::uint64_t total() const = 0;
    /// What is wrong with the end ("the gzip stream ends early"); empty while nothing is.
    [[nodiscard]] virtual std::string damage() const { return {}; }
};

/// Throws Error if the file cannot be opened.
[[nodiscard]] std::unique_ptr<ByteSource> openFile(const std::filesystem::path&);
/// The text must outlive the source.
[[nodiscard]] std::unique_ptr<ByteSource> openMemory(std::string_view);
/// Inflates gzip with any number of members. A damaged stream ends where it is damaged; damage() tells. `name` is for
/// errors.
[[nodiscard]] std::unique_ptr<ByteSource> inflated(std::unique_ptr<ByteSource>, std::string name);
/// The same stream, inflated if its first bytes are gzip's (`gzip` tells).
[[nodiscard]] std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource>, std::string name, bool& gzip);
/// openFile, inflated if its first bytes are gzip's.
[[nodiscard]] std::unique_ptr<ByteSource> openMaybeGzip(const std::filesystem::path&);

[[nodiscard]] bool isGzip(std::string_view head);

}  // namespace fp8scope::import

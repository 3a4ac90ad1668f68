// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <filesystem>
#include <iterator>
#include <string>

#include <fmt/format.h>

namespace fp8scope::exporter {

/// A text file that is written in large pieces beside its place and takes it when it is whole.
class OutputFile {
public:
    /// Compressed when the name ends in ".gz". Throws Error.
    explicit OutputFile(std::filesystem::path);
    ~OutputFile();  ///< without close(): leaves nothing behind
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void raw(std::string_view text)
    {
        m_buffer += text;
        if (m_buffer.size() >= kPieceBytes)
            flush();
    }
    template <typename... Args>
    void add(fmt::format_string<Args...> format, Args&&... args)
    {
        fmt::format_to(std::back_inserter(m_buffer), format, std::forward<Args>(args)...);
        if (m_buffer.size() >= kPieceBytes)
            flush();
    }
    /// Throws Error.
    void close();

private:
    static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
    void flush();
    [[noreturn]] void fail(const char* doing);

    std::filesystem::path m_path;
    std::filesystem::path m_partial;
    std::string m_buffer;
    gzFile m_file = nullptr;
};

}  // namespace fp8scope::exporter

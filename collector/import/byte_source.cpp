// SPDX-License-Identifier: Apache-2.0
#include "collector/import/byte_source.h"

#include "collector/trace/error.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace fp8scope::import {
namespace {

class FileSource final : public ByteSource {
public:
    explicit FileSource(std::filesystem::path path)
        : m_path(std::move(path)), m_file(::open(m_path.c_str(), O_RDONLY | O_CLOEXEC))
    {
        if (m_file < 0)
            throw Error(std::string("cannot be opened: ") + std::strerror(errno), m_path.string(),
                        "check the path and its permissions");
        ::posix_fadvise(m_file, 0, 0, POSIX_FADV_SEQUENTIAL);
        std::error_code error;
        const std::uintmax_t size = std::filesystem::file_size(m_path, error);
        m_total = error ? 0 : size;
    }
    ~FileSource() override { ::close(m_file); }
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;

    std::size_t read(std::span<char> into) override
    {
        std::size_t filled = 0;
        while (filled < into.size()) {
            const ssize_t n = ::read(m_file, into.data() + filled, into.size() - filled);
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                throw Error(std::string("cannot be read: ") + std::strerror(errno), m_path.string(),
                            "check the disk, or copy the file elsewhere");
            if (n == 0)
                break;
            filled += static_cast<std::size_t>(n);
        }
        m_consumed += filled;
        return filled;
    }
    std::uint64_t consumed() const override { return m_consumed; }
    std::uint64_t total() const override { return m_total; }

private:
    std::filesystem::path m_path;
    int m_file;
    std::uint64_t m_consumed = 0, m_total = 0;
};

class MemorySource final : public ByteSource {
public:
    explicit MemorySource(std::string_view text) : m_text(text) {}

    std::size_t read(std::span<char> into) override
    {
        const std::size_t n = std::min(into.size(), m_text.size() - m_at);
        if (n > 0)
            std::memcpy(into.data(), m_text.data() + m_at, n);
        m_at += n;
        return n;
    }
    std::uint64_t consumed() const override { return m_at; }
    std::uint64_t total() const override { return m_text.size(); }

private:
    std::string_view m_text;
    std::size_t m_at = 0;
};

class InflateSource final : public ByteSource {
public:
    InflateSource(std::unique_ptr<ByteSource> packed, std::string name)
        : m_packed(std::move(packed)), m_name(std::move(name)), m_input(kInput)
    {
        constexpr int kGzipOnly = 16 + MAX_WBITS;
        if (inflateInit2(&m_stream, kGzipOnly) != Z_OK)
            throw Error("zlib cannot start", m_name, "close other programs");
    }
    ~InflateSource() override { inflateEnd(&m_stream); }
    InflateSource(const InflateSource&) = delete;
    InflateSource& operator=(const InflateSource&) = delete;

    std::size_t read(std::span<char> into) override
    {
        std::size_t filled = 0;
        while (filled < into.size() && !m_ended) {
            if (m_stream.avail_in == 0 && !refill())
                break;
            filled += inflateInto(into.subspan(filled));
        }
        return filled;
    }
    std::uint64_t consumed() const override { return m_packed->consumed() - m_stream.avail_in; }
    std::uint64_t total() const override { return m_packed->total(); }
    std::string damage() const override { return m_damage.empty() ? m_packed->damage() : m_damage; }

private:
    static constexpr std::size_t kInput = std::size_t{256} << 10;

    bool refill()
    {
        const std::size_t n = m_packed->read(m_input);
        if (n == 0) {
            m_ended = true;
            if (m_insideMember)
                m_damage = "the gzip stream ends early";
        }
        m_stream.next_in = reinterpret_cast<Bytef*>(m_input.data());
        m_stream.avail_in = static_cast<uInt>(n);
        return n > 0;
    }

    std::size_t inflateInto(std::span<char> into)
    {
        const std::size_t room = std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max());
        m_stream.next_out = reinterpret_cast<Bytef*>(into.data());
        m_stream.avail_out = static_cast<uInt>(room);
        m_insideMember = true;
        const int result = ::inflate(&m_stream, Z_NO_FLUSH);
        const std::size_t made = room - m_stream.avail_out;
        if (result == Z_STREAM_END) {
            m_insideMember = false;
            m_anyMember = true;
            inflateReset(&m_stream);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            m_ended = true;
            // What follows a whole member and is no gzip is padding, as tapes and block devices add it.
            if (!(m_anyMember && made == 0 && m_stream.total_out == 0))
                m_damage = std::string("the gzip stream is damaged") +
                           (m_stream.msg != nullptr ? std::string(" (") + m_stream.msg + ")" : std::string());
        }
        return made;
    }

    std::unique_ptr<ByteSource> m_packed;
    std::string m_name;
    std::vector<char> m_input;
    z_stream m_stream{};
    bool m_ended = false, m_insideMember = false, m_anyMember = false;
    std::string m_damage;
};

/// Gives back the bytes that were looked at, then the rest.
class PrefixedSource final : public ByteSource {
public:
    PrefixedSource(std::string prefix, std::unique_ptr<ByteSource> rest)
        : m_prefix(std::move(prefix)), m_rest(std::move(rest))
    {}

    std::size_t read(std::span<char> into) override
    {
        const std::size_t n = std::min(into.size(), m_prefix.size() - m_at);
        std::copy_n(m_prefix.data() + m_at, n, into.data());
        m_at += n;
        return n + m_rest->read(into.subspan(n));
    }
    std::uint64_t consumed() const override { return m_rest->consumed() - (m_prefix.size() - m_at); }
    std::uint64_t total() const override { return m_rest->total(); }
    std::string damage() const override { return m_rest->damage(); }

private:
    std::string m_prefix;
    std::unique_ptr<ByteSource> m_rest;
    std::size_t m_at = 0;
};

}  // namespace

std::unique_ptr<ByteSource> openFile(const std::filesystem::path& path) { return std::make_unique<FileSource>(path); }

std::unique_ptr<ByteSource> openMemory(std::string_view text) { return std::make_unique<MemorySource>(text); }

std::unique_ptr<ByteSource> inflated(std::unique_ptr<ByteSource> packed, std::string name)
{
    return std::make_unique<InflateSource>(std::move(packed), std::move(name));
}

bool isGzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> source, std::string name, bool& gzip)
{
    std::string head(2, '\0');
    head.resize(source->read(head));
    gzip = isGzip(head);
    std::unique_ptr<ByteSource> whole = std::make_unique<PrefixedSource>(std::move(head), std::move(source));
    return gzip ? inflated(std::move(whole), std::move(name)) : std::move(whole);
}

std::unique_ptr<ByteSource> openMaybeGzip(const std::filesystem::path& path)
{
    bool gzip = false;
    return unpacked(openFile(path), path.string(), gzip);
}

}  // namespace fp8scope::import

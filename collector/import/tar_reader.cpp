// SPDX-License-Identifier: Apache-2.0
#include "collector/import/tar_reader.h"

#include "collector/trace/error.h"

#include <algorithm>
#include <charconv>

namespace fp8scope::import {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::uint64_t kMostName = std::uint64_t{1} << 20;

std::string_view field(std::string_view header, std::size_t offset, std::size_t size)
{
    const std::string_view text = header.substr(offset, size);
    return text.substr(0, text.find('\0'));
}

/// Octal, or (GNU) binary when the first bit is set.
std::uint64_t number(std::string_view header, std::size_t offset, std::size_t size)
{
    const std::string_view text = header.substr(offset, size);
    if ((static_cast<unsigned char>(text[0]) & 0x80U) != 0) {
        std::uint64_t value = static_cast<unsigned char>(text[0]) & 0x7fU;
        for (const char c : text.substr(1))
            value = (value << 8U) | static_cast<unsigned char>(c);
        return value;
    }
    const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
    std::uint64_t value = 0;
    std::from_chars(text.data() + first, text.data() + text.size(), value, 8);
    return value;
}

/// The sum of all bytes, the checksum's own taken as blanks.
bool checksumHolds(std::string_view header)
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
        sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
    return sum == number(header, 148, 8);
}

std::string nameIn(std::string_view header)
{
    std::string name(field(header, 0, 100));
    if (header.substr(257, 5) == "ustar") {
        if (const std::string_view prefix = field(header, 345, 155); !prefix.empty())
            name = std::string(prefix) + "/" + name;
    }
    return name;
}

/// "30 path=long/name\n" lines of a pax header.
std::string paxValue(std::string_view records, std::string_view key)
{
    const std::string wanted = " " + std::string(key) + "=";
    const std::size_t at = records.find(wanted);
    if (at == std::string_view::npos)
        return {};
    const std::string_view value = records.substr(at + wanted.size());
    return std::string(value.substr(0, value.find('\n')));
}

}  // namespace

/// The content of the member at which the reader stands.
class TarContent final : public ByteSource {
public:
    explicit TarContent(TarReader& tar) : m_tar(tar) {}
    std::size_t read(std::span<char> into) override
    {
        const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), m_tar.m_left));
        const std::size_t n = m_tar.m_archive.read(into.subspan(0, wanted));
        m_tar.m_left -= n;
        m_short = n < wanted;
        return n;
    }
    std::uint64_t consumed() const override { return m_tar.m_archive.consumed(); }
    std::uint64_t total() const override { return m_tar.m_archive.total(); }
    std::string damage() const override { return m_short ? "the archive ends early" : m_tar.m_archive.damage(); }

private:
    TarReader& m_tar;
    bool m_short = false;
};

TarReader::TarReader(ByteSource& archive, std::string name) : m_archive(archive), m_name(std::move(name)) {}

bool TarReader::readHeader(std::string& block)
{
    block.resize(kBlock);
    const std::size_t n = m_archive.read(block);
    const bool end = n == 0 || std::all_of(block.begin(), block.end(), [](char c) { return c == '\0'; });
    if (end)
        return false;
    if (n < kBlock || !checksumHolds(block))
        throw Error("the archive is damaged", m_name, "copy it again, or unpack what can be unpacked");
    m_left = number(block, 124, 12);
    m_padding = (kBlock - m_left % kBlock) % kBlock;
    return true;
}

void TarReader::skipRest()
{
    std::string scratch(std::size_t{64} << 10, '\0');
    for (std::uint64_t left = m_left + m_padding; left > 0;) {
        const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(scratch.size(), left));
        const std::size_t n = m_archive.read({scratch.data(), wanted});
        if (n == 0)
            break;
        left -= n;
    }
    m_left = m_padding = 0;
}

std::string TarReader::readSmall(std::uint64_t size)
{
    std::string text(static_cast<std::size_t>(std::min(size, kMostName)), '\0');
    const std::size_t n = m_archive.read(text);
    m_left -= n;
    text.resize(n);
    skipRest();
    return text;
}

std::optional<TarMember> TarReader::next()
{
    std::string header, longName, longSize;
    while (true) {
        skipRest();
        if (!readHeader(header))
            return std::nullopt;
        const char type = header[156];
        if (type == 'L') {
            longName = readSmall(m_left);
            longName.resize(std::min(longName.find('\0'), longName.size()));
        } else if (type == 'x') {
            const std::string records = readSmall(m_left);
            longName = paxValue(records, "path");
            longSize = paxValue(records, "size");
        } else if (type != 'g' && type != 'K') {
            break;
        }
    }
    if (!longSize.empty()) {
        std::from_chars(longSize.data(), longSize.data() + longSize.size(), m_left);
        m_padding = (kBlock - m_left % kBlock) % kBlock;
    }
    const char type = header[156];
    return TarMember{longName.empty() ? nameIn(header) : longName, m_left, type == '0' || type == '\0' || type == '7'};
}

std::unique_ptr<ByteSource> TarReader::content() { return std::make_unique<TarContent>(*this); }

bool isTar(std::string_view head)
{
    return head.size() >= kBlock && head[0] != '\0' && checksumHolds(head) && number(head, 148, 8) > 0;
}

bool isHiddenMember(std::string_view name)
{
    const std::string_view file = name.substr(name.rfind('/') + 1);
    return file.starts_with("._") || file == ".DS_Store" || name.starts_with("__MACOSX/");
}

}  // namespace fp8scope::import

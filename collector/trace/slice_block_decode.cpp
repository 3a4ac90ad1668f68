// SPDX-License-Identifier: Apache-2.0
// A column block back to columns. Everything in the bytes may be a lie: sizes are checked before use, sums wrap in
// unsigned arithmetic, and what came out is checked while it is still in the cache.
#include "collector/trace/block_layout.h"

#include <zstd.h>

#include <algorithm>
#include <new>
#include <optional>

namespace fp8scope {
namespace {

using block::Coding;
using block::ColumnEntry;

void require(bool holds, const char* clause)
{
    if (!holds)
        throw BadBlock(clause);
}

/// One column: its entry and its compressed bytes.
struct Stream {
    ColumnEntry entry;
    std::span<const std::byte> bytes;
};
using Streams = std::array<std::optional<Stream>, kBlockColumnCount>;

bool codingAllowed(const ColumnEntry& entry)
{
    switch (entry.coding) {
    case Coding::Constant: return entry.width == 0 && entry.compressedBytes == 0;
    case Coding::Gap: return entry.column == BlockColumn::Start && entry.width >= 1 && entry.width <= 8;
    case Coding::Delta:
    case Coding::Plain: return entry.width >= 1 && entry.width <= 8;
    }
    return false;
}

Streams parse(std::span<const std::byte> data, const BlockRow& row)
{
    block::Header header;
    require(data.size() >= sizeof(header), "is cut short");
    std::memcpy(&header, data.data(), sizeof(header));
    require(header.magic == block::Header{}.magic, "does not start as a column block");
    require(header.version == block::kVersion, "is of an unknown block version");
    require(header.n == row.n && header.n >= 1 && header.n <= kMaxBlockSlices,
            "disagrees with its row on the slices' number");
    require(header.columnCount <= kBlockColumnCount, "has too many columns");
    data = data.subspan(sizeof(header));
    require(data.size() >= header.columnCount * sizeof(ColumnEntry), "is cut short");
    std::span<const std::byte> rest = data.subspan(header.columnCount * sizeof(ColumnEntry));

    Streams streams;
    std::uint32_t columns = 0;
    for (std::size_t c = 0; c < header.columnCount; ++c) {
        ColumnEntry entry;
        std::memcpy(&entry, data.data() + c * sizeof(entry), sizeof(entry));
        require(static_cast<std::uint32_t>(entry.column) < kBlockColumnCount && entry.reserved == 0,
                "has an unknown column");
        require(columns < bit(entry.column), "has its columns out of order");  // so none stands twice
        require(codingAllowed(entry), "has an unknown coding");
        require(entry.compressedBytes <= rest.size(), "is cut short");
        columns |= bit(entry.column);
        streams[static_cast<std::size_t>(entry.column)] = Stream{entry, rest.first(entry.compressedBytes)};
        rest = rest.subspan(entry.compressedBytes);
    }
    require(rest.empty(), "has bytes left over");
    require(columns == row.columns, "disagrees with its row on the columns");
    require((columns & kAlwaysPresent) == kAlwaysPresent, "lacks a column that every block has");
    return streams;
}

template <int width>
std::uint64_t joinPlanes(const std::uint8_t* planes, std::size_t n, std::size_t i)
{
    std::uint64_t value = 0;
    for (int b = 0; b < width; ++b)
        value |= std::uint64_t{planes[static_cast<std::size_t>(b) * n + i]} << (8 * b);
    return value;
}

/// Calls body(i, value) for each value of a stream, with the width known at compile time.
template <int width, typename Body>
void forEachValue(const std::uint8_t* planes, std::size_t n, const Body& body)
{
    for (std::size_t i = 0; i < n; ++i)
        body(i, joinPlanes<width>(planes, n, i));
}

template <typename Body>
void forEachValue(int width, const std::uint8_t* planes, std::size_t n, const Body& body)
{
    switch (width) {
    case 1: return forEachValue<1>(planes, n, body);
    case 2: return forEachValue<2>(planes, n, body);
    case 3: return forEachValue<3>(planes, n, body);
    case 4: return forEachValue<4>(planes, n, body);
    case 5: return forEachValue<5>(planes, n, body);
    case 6: return forEachValue<6>(planes, n, body);
    case 7: return forEachValue<7>(planes, n, body);
    default: return forEachValue<8>(planes, n, body);
    }
}

/// Plain loops that the compiler vectorizes; the block is in the cache.
BlockOrder checkTimes(const BlockRow& row, const std::int64_t* startNs, const std::int64_t* durNs)
{
    std::int64_t first = startNs[0];
    std::int64_t last = startNs[0] + durNs[0];
    unsigned overlaps = 0;
    for (std::size_t i = 1; i < row.n; ++i) {
        first = std::min(first, startNs[i]);
        last = std::max(last, startNs[i] + durNs[i]);
        overlaps |= static_cast<unsigned>(startNs[i] < startNs[i - 1] + std::max<std::int64_t>(durNs[i - 1], 1));
    }
    require(first == row.firstNs && last == row.lastNs, "disagrees with its row on the time range");
    return {overlaps == 0, std::max(last, startNs[row.n - 1] + 1)};
}

}  // namespace

struct BlockDecoder::Impl {
    ZSTD_DCtx* zstd = ZSTD_createDCtx();
    std::vector<std::uint8_t> planes = std::vector<std::uint8_t>(kMaxBlockSlices * sizeof(std::uint64_t));
    std::vector<std::int64_t> durations =
        std::vector<std::int64_t>(kMaxBlockSlices);  ///< for Gap, where none are wanted

    const std::uint8_t* decompress(const Stream& stream, std::size_t n);
    void durationsTo(const Stream& stream, std::size_t n, std::int64_t* durNs);
    void startsTo(const Stream& stream, std::size_t n, const std::int64_t* durNs, std::int64_t* startNs);
    template <typename Tag>
    void idsTo(const std::optional<Stream>& stream, std::size_t n, std::uint32_t limit, bool noneAllowed, Id<Tag>* ids);
    void valuesTo(const std::optional<Stream>& stream, std::size_t n, std::uint64_t* values);
};

const std::uint8_t* BlockDecoder::Impl::decompress(const Stream& stream, std::size_t n)
{
    const std::size_t expected = n * stream.entry.width;
    const std::size_t size =
        ZSTD_decompressDCtx(zstd, planes.data(), expected, stream.bytes.data(), stream.bytes.size());
    require(!ZSTD_isError(size) && size == expected, "does not decompress");
    return planes.data();
}

void BlockDecoder::Impl::valuesTo(const std::optional<Stream>& stream, std::size_t n, std::uint64_t* values)
{
    if (!stream || stream->entry.coding == Coding::Constant) {
        std::fill_n(values, n, stream ? stream->entry.base : 0);
        return;
    }
    const std::uint8_t* const from = decompress(*stream, n);
    if (stream->entry.coding == Coding::Plain) {
        forEachValue(stream->entry.width, from, n, [=](std::size_t i, std::uint64_t v) { values[i] = v; });
        return;
    }
    std::uint64_t value = stream->entry.base;
    forEachValue(stream->entry.width, from, n, [&value, values](std::size_t i, std::uint64_t v) {
        value += block::unzigzag(v);
        values[i] = value;
    });
}

void BlockDecoder::Impl::durationsTo(const Stream& stream, std::size_t n, std::int64_t* durNs)
{
    require(stream.entry.coding == Coding::Plain || stream.entry.coding == Coding::Constant, "has an unknown coding");
    std::uint64_t allBits = 0;
    if (stream.entry.coding == Coding::Constant) {
        allBits = stream.entry.base;
        std::fill_n(durNs, n, static_cast<std::int64_t>(stream.entry.base));
    } else {
        forEachValue(stream.entry.width, decompress(stream, n), n, [&allBits, durNs](std::size_t i, std::uint64_t v) {
            allBits |= v;
            durNs[i] = static_cast<std::int64_t>(v);
        });
    }
    require(allBits < static_cast<std::uint64_t>(kMaxTimeNs), "has a duration out of range");
}

void BlockDecoder::Impl::startsTo(const Stream& stream, std::size_t n, const std::int64_t* durNs, std::int64_t* startNs)
{
    constexpr auto kOffset = static_cast<std::uint64_t>(kMaxTimeNs);
    std::uint64_t outside = 0;  // bit 63 of (start + 2^62) is set for starts outside [-2^62, 2^62)
    std::uint64_t value = stream.entry.base;
    const int width = stream.entry.width;
    switch (stream.entry.coding) {
    case Coding::Constant:
        outside = value + kOffset;
        std::fill_n(startNs, n, static_cast<std::int64_t>(value));
        break;
    case Coding::Gap:
        forEachValue(width, decompress(stream, n), n,
                     [&outside, &value, durNs, startNs](std::size_t i, std::uint64_t v) {
                         value += block::unzigzag(v);
                         outside |= value + kOffset;
                         startNs[i] = static_cast<std::int64_t>(value);
                         value += static_cast<std::uint64_t>(durNs[i]);
                     });
        break;
    case Coding::Delta:
        forEachValue(width, decompress(stream, n), n, [&outside, &value, startNs](std::size_t i, std::uint64_t v) {
            value += block::unzigzag(v);
            outside |= value + kOffset;
            startNs[i] = static_cast<std::int64_t>(value);
        });
        break;
    case Coding::Plain: throw BadBlock("has an unknown coding");
    }
    require((outside >> 63) == 0, "has a start out of range");
}

template <typename Tag>
void BlockDecoder::Impl::idsTo(const std::optional<Stream>& stream, std::size_t n, std::uint32_t limit,
                               bool noneAllowed, Id<Tag>* ids)
{
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    if (!stream || stream->entry.coding == Coding::Constant) {
        least = most = stream ? stream->entry.base : 0;
        std::fill_n(ids, n, Id<Tag>(static_cast<std::uint32_t>(least - 1)));
    } else {
        require(stream->entry.coding == Coding::Plain, "has an unknown coding");
        forEachValue(stream->entry.width, decompress(*stream, n), n,
                     [&least, &most, ids](std::size_t i, std::uint64_t v) {
                         least = std::min(least, v);
                         most = std::max(most, v);
                         ids[i] = Id<Tag>(static_cast<std::uint32_t>(v) - 1);
                     });
    }
    require(most <= limit && (noneAllowed || least > 0), "refers to a row that does not exist");
}

BlockDecoder::BlockDecoder() : m_impl(std::make_unique<Impl>())
{
    if (m_impl->zstd == nullptr)
        throw std::bad_alloc();
}

BlockDecoder::~BlockDecoder() { ZSTD_freeDCtx(m_impl->zstd); }

BlockOrder BlockDecoder::decode(std::span<const std::byte> data, const BlockRow& row, const BlockLimits& limits,
                                const BlockTarget& target)
{
    Impl& impl = *m_impl;
    const Streams streams = parse(data, row);
    const auto stream = [&](BlockColumn column) -> const std::optional<Stream>& {
        return streams[static_cast<std::size_t>(column)];
    };
    const std::size_t n = row.n;
    BlockOrder order;
    std::int64_t* const durNs = target.durNs != nullptr ? target.durNs : impl.durations.data();
    if (target.durNs != nullptr || target.startNs != nullptr)
        impl.durationsTo(*stream(BlockColumn::Duration), n, durNs);
    if (target.startNs != nullptr) {
        impl.startsTo(*stream(BlockColumn::Start), n, durNs, target.startNs);
        order = checkTimes(row, target.startNs, durNs);
    }
    if (target.name != nullptr)
        impl.idsTo(stream(BlockColumn::Name), n, limits.names, false, target.name);
    if (target.op != nullptr)
        impl.idsTo(stream(BlockColumn::Op), n, limits.ops, true, target.op);
    if (target.launchShape != nullptr)
        impl.idsTo(stream(BlockColumn::LaunchShape), n, limits.launchShapes, true, target.launchShape);
    if (target.correlation != nullptr)
        impl.valuesTo(stream(BlockColumn::Correlation), n, target.correlation);
    if (target.bytes != nullptr)
        impl.valuesTo(stream(BlockColumn::Bytes), n, target.bytes);
    return order;
}

}  // namespace fp8scope

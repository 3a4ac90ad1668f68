// SPDX-License-Identifier: Apache-2.0
// Slices to a column block. Sorts them first, chooses the coding of starts, and drops byte planes that are zero
// throughout.
#include "collector/trace/block_layout.h"

#include <zstd.h>

#include <algorithm>
#include <cassert>
#include <new>

namespace fp8scope {
namespace {

using block::Coding;
using block::ColumnEntry;

constexpr int kZstdLevel = 1;

bool comesBefore(const SliceRecord& a, const SliceRecord& b)
{
    return a.startNs != b.startNs ? a.startNs < b.startNs : a.durNs > b.durNs;
}

std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// "none" becomes 0, so that a column without references is constant and small ids stay small.
template <typename Tag>
std::uint64_t coded(Id<Tag> id)
{
    return static_cast<std::uint32_t>(id.value + 1);
}

int bitWidth(std::uint64_t value) { return 64 - std::countl_zero(value); }
std::uint8_t byteWidth(std::uint64_t allBits) { return static_cast<std::uint8_t>((bitWidth(allBits) + 7) / 8); }

/// Queues of back-to-back work have small gaps; nested ranges of a CPU thread have small deltas. A sample tells which.
Coding startCoding(std::span<const SliceRecord> slices)
{
    int deltaBits = 0;
    int gapBits = 0;
    for (std::size_t i = 1; i < slices.size(); i += 1 + slices.size() / 1024) {
        const std::uint64_t delta = bits(slices[i].startNs) - bits(slices[i - 1].startNs);
        deltaBits += bitWidth(block::zigzag(delta));
        gapBits += bitWidth(block::zigzag(delta - bits(slices[i - 1].durNs)));
    }
    return gapBits < deltaBits ? Coding::Gap : Coding::Delta;
}

template <int width>
void splitPlanes(const std::uint64_t* values, std::size_t n, std::uint8_t* planes)
{
    for (std::size_t i = 0; i < n; ++i) {
        for (int b = 0; b < width; ++b)
            planes[static_cast<std::size_t>(b) * n + i] = static_cast<std::uint8_t>(values[i] >> (8 * b));
    }
}

void splitPlanes(int width, const std::uint64_t* values, std::size_t n, std::uint8_t* planes)
{
    switch (width) {
    case 1: return splitPlanes<1>(values, n, planes);
    case 2: return splitPlanes<2>(values, n, planes);
    case 3: return splitPlanes<3>(values, n, planes);
    case 4: return splitPlanes<4>(values, n, planes);
    case 5: return splitPlanes<5>(values, n, planes);
    case 6: return splitPlanes<6>(values, n, planes);
    case 7: return splitPlanes<7>(values, n, planes);
    default: return splitPlanes<8>(values, n, planes);
    }
}

}  // namespace

struct BlockEncoder::Impl {
    ZSTD_CCtx* zstd = ZSTD_createCCtx();
    std::vector<SliceRecord> sorted;
    std::vector<std::uint64_t> stream;
    std::vector<std::uint8_t> planes;
    std::vector<ColumnEntry> entries;
    std::vector<std::byte> streams;  ///< compressed, one after another
    std::vector<std::byte> block;

    std::span<const SliceRecord> inOrder(std::span<const SliceRecord> slices)
    {
        if (std::is_sorted(slices.begin(), slices.end(), comesBefore))
            return slices;
        sorted.assign(slices.begin(), slices.end());
        std::stable_sort(sorted.begin(), sorted.end(), comesBefore);
        return sorted;
    }

    void addStarts(std::span<const SliceRecord> slices);
    template <typename Value>
    void addDeltas(BlockColumn column, std::span<const SliceRecord> slices, Value value);
    template <typename Value>
    void addPlain(BlockColumn column, std::span<const SliceRecord> slices, Value value);
    void addStream(ColumnEntry entry, std::uint64_t allBits, std::size_t n);
    std::uint32_t assemble(std::size_t n);
};

void BlockEncoder::Impl::addStarts(std::span<const SliceRecord> slices)
{
    const ColumnEntry entry{
        .column = BlockColumn::Start, .coding = startCoding(slices), .base = bits(slices[0].startNs)};
    std::uint64_t allBits = 0;
    std::uint64_t before = entry.base;
    for (std::size_t i = 0; i < slices.size(); ++i) {
        const std::uint64_t start = bits(slices[i].startNs);
        stream[i] = block::zigzag(start - before);
        allBits |= stream[i];
        before = entry.coding == Coding::Gap ? start + bits(slices[i].durNs) : start;
    }
    addStream(entry, allBits, slices.size());
}

template <typename Value>
void BlockEncoder::Impl::addDeltas(BlockColumn column, std::span<const SliceRecord> slices, Value value)
{
    const ColumnEntry entry{.column = column, .coding = Coding::Delta, .base = value(slices[0])};
    std::uint64_t allBits = 0;
    std::uint64_t before = entry.base;
    for (std::size_t i = 0; i < slices.size(); ++i) {
        stream[i] = block::zigzag(value(slices[i]) - before);
        allBits |= stream[i];
        before = value(slices[i]);
    }
    addStream(entry, allBits, slices.size());
}

template <typename Value>
void BlockEncoder::Impl::addPlain(BlockColumn column, std::span<const SliceRecord> slices, Value value)
{
    std::uint64_t allBits = 0;
    for (std::size_t i = 0; i < slices.size(); ++i) {
        stream[i] = value(slices[i]);
        allBits |= stream[i];
    }
    addStream(ColumnEntry{.column = column, .coding = Coding::Plain}, allBits, slices.size());
}

/// A constant column costs its entry; one that is "none" throughout is left out.
void BlockEncoder::Impl::addStream(ColumnEntry entry, std::uint64_t allBits, std::size_t n)
{
    const bool isConstant = entry.coding == Coding::Plain
                                ? std::all_of(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(n),
                                              [first = stream[0]](std::uint64_t v) { return v == first; })
                                : entry.coding == Coding::Delta && allBits == 0;
    if (isConstant) {
        if (entry.coding == Coding::Plain)
            entry.base = stream[0];
        entry.coding = Coding::Constant;
        if (entry.base != 0 || (bit(entry.column) & kAlwaysPresent) != 0)
            entries.push_back(entry);
        return;
    }
    entry.width = std::max<std::uint8_t>(byteWidth(allBits), 1);
    const std::size_t planeBytes = n * entry.width;
    splitPlanes(entry.width, stream.data(), n, planes.data());
    const std::size_t begin = streams.size();
    streams.resize(begin + ZSTD_compressBound(planeBytes));
    const std::size_t size =
        ZSTD_compress2(zstd, streams.data() + begin, streams.size() - begin, planes.data(), planeBytes);
    assert(!ZSTD_isError(size));
    streams.resize(begin + size);
    entry.compressedBytes = static_cast<std::uint32_t>(size);
    entries.push_back(entry);
}

/// Header, entries, streams; gives the column bits.
std::uint32_t BlockEncoder::Impl::assemble(std::size_t n)
{
    const block::Header header{.columnCount = static_cast<std::uint8_t>(entries.size()),
                               .n = static_cast<std::uint32_t>(n)};
    const std::size_t entryBytes = entries.size() * sizeof(ColumnEntry);
    block.resize(sizeof(header) + entryBytes + streams.size());
    std::memcpy(block.data(), &header, sizeof(header));
    std::memcpy(block.data() + sizeof(header), entries.data(), entryBytes);
    std::copy(streams.begin(), streams.end(), block.begin() + static_cast<std::ptrdiff_t>(sizeof(header) + entryBytes));
    std::uint32_t columns = 0;
    for (const ColumnEntry& entry : entries)
        columns |= bit(entry.column);
    return columns;
}

BlockEncoder::BlockEncoder() : m_impl(std::make_unique<Impl>())
{
    if (m_impl->zstd == nullptr)
        throw std::bad_alloc();
    ZSTD_CCtx_setParameter(m_impl->zstd, ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(m_impl->zstd, ZSTD_c_checksumFlag, 1);
    m_impl->stream.resize(kMaxBlockSlices);
    m_impl->planes.resize(kMaxBlockSlices * sizeof(std::uint64_t));
}

BlockEncoder::~BlockEncoder() { ZSTD_freeCCtx(m_impl->zstd); }

BlockEncoder::Block BlockEncoder::encode(std::span<const SliceRecord> slices)
{
    assert(!slices.empty() && slices.size() <= kMaxBlockSlices);
    Impl& impl = *m_impl;
    slices = impl.inOrder(slices);
    impl.entries.clear();
    impl.streams.clear();
    impl.addStarts(slices);
    impl.addPlain(BlockColumn::Duration, slices, [](const SliceRecord& s) { return bits(s.durNs); });
    impl.addPlain(BlockColumn::Name, slices, [](const SliceRecord& s) { return coded(s.name); });
    impl.addPlain(BlockColumn::Op, slices, [](const SliceRecord& s) { return coded(s.op); });
    impl.addDeltas(BlockColumn::Correlation, slices, [](const SliceRecord& s) { return s.correlation; });
    impl.addPlain(BlockColumn::LaunchShape, slices, [](const SliceRecord& s) { return coded(s.launchShape); });
    impl.addPlain(BlockColumn::Bytes, slices, [](const SliceRecord& s) { return s.bytes; });

    Block result;
    result.columns = impl.assemble(slices.size());
    result.data = impl.block;
    result.firstNs = slices.front().startNs;
    result.lastNs = slices.front().startNs + slices.front().durNs;
    for (const SliceRecord& s : slices)
        result.lastNs = std::max(result.lastNs, s.startNs + s.durNs);
    return result;
}

}  // namespace fp8scope

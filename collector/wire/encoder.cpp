// SPDX-License-Identifier: Apache-2.0
// Integers are LEB128 (signed ones zigzag), doubles eight bytes, texts a length and their bytes, ids shifted by one (0:
// none).
#include "collector/wire/encoder.h"

#include "collector/wire/fields.h"

#include <algorithm>
#include <bit>

namespace fp8scope::wire {

namespace {

/// The longest length up to `limit` that does not end inside a UTF-8 character.
std::size_t cutLength(const std::string& text, std::size_t limit)
{
    if (text.size() <= limit)
        return text.size();
    const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U; };
    while (limit > 0 && continues(limit))
        --limit;
    return limit;
}

class ByteWriter {
public:
    explicit ByteWriter(std::vector<std::byte>& bytes) : m_bytes(bytes) {}

    void operator()(const auto&... values) { (put(values), ...); }

    void unsignedInt(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7)
            m_bytes.push_back(static_cast<std::byte>(value | 0x80));
        m_bytes.push_back(static_cast<std::byte>(value));
    }
    void signedInt(std::int64_t value)
    {
        const auto bits = static_cast<std::uint64_t>(value);
        unsignedInt((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
    }

private:
    template <typename T>
    void put(const T& value)
    {
        if constexpr (std::is_enum_v<T>)
            m_bytes.push_back(static_cast<std::byte>(value));
        else if constexpr (std::signed_integral<T>)
            signedInt(value);
        else
            unsignedInt(value);
    }
    template <typename Tag>
    void put(Id<Tag> id)
    {
        unsignedInt(id.valid() ? std::uint64_t{id.value} + 1 : 0);
    }
    void put(RoleSet roles) { unsignedInt(roles.bits()); }
    void put(const std::array<std::uint32_t, 3>& values) { (*this)(values[0], values[1], values[2]); }
    void put(const std::vector<std::uint64_t>& counts)
    {
        unsignedInt(counts.size());
        for (const std::uint64_t count : counts)
            unsignedInt(count);
    }
    void put(double value)
    {
        auto bits = std::bit_cast<std::uint64_t>(value);
        for (int i = 0; i < 8; ++i, bits >>= 8)
            m_bytes.push_back(static_cast<std::byte>(bits));
    }
    void put(const std::string& text)
    {
        const std::size_t length = cutLength(text, kMaxTextBytes);
        unsignedInt(length);
        const auto* first = reinterpret_cast<const std::byte*>(text.data());
        m_bytes.insert(m_bytes.end(), first, first + length);
    }

    std::vector<std::byte>& m_bytes;
};

std::uint8_t usedColumns(std::span<const Slice> slices)
{
    std::uint8_t columns = 0;
    for (const Slice& slice : slices) {
        columns |= slice.op.valid() ? kHasOp : std::uint8_t{0};
        columns |= slice.correlation != 0 ? kHasCorrelation : std::uint8_t{0};
        columns |= slice.launchShape.valid() ? kHasLaunchShape : std::uint8_t{0};
        columns |= slice.bytes != 0 ? kHasBytes : std::uint8_t{0};
    }
    return columns;
}

std::int64_t difference(std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); }

}  // namespace

std::size_t Encoder::openFrame(std::uint8_t kind)
{
    const std::size_t start = m_bytes.size();
    m_bytes.resize(start + kFrameBytes);
    m_bytes[start + 4] = static_cast<std::byte>(kind);
    return start;
}

void Encoder::closeFrame(std::size_t start)
{
    std::size_t payload = m_bytes.size() - start - kFrameBytes;
    for (std::size_t i = 0; i < 4; ++i, payload >>= 8)
        m_bytes[start + i] = static_cast<std::byte>(payload);
}

template <typename R>
void Encoder::appendRecord(const R& record)
{
    const std::size_t start = openFrame(kindOf<R>());
    ByteWriter writer(m_bytes);
    if constexpr (std::same_as<R, Hello>)
        writer(kMagic, kProtocolVersion);
    fields(writer, record);
    closeFrame(start);
}

void Encoder::appendBatch(LocalTrack track, std::span<const Slice> slices)
{
    const std::size_t start = openFrame(kindOf<SliceBatch>());
    const std::uint8_t columns = usedColumns(slices);
    ByteWriter writer(m_bytes);
    writer(track, slices.size(), columns);
    std::uint64_t lastStart = 0, lastCorrelation = 0;
    for (const Slice& slice : slices) {
        const auto startNs = static_cast<std::uint64_t>(slice.startNs);
        writer(difference(startNs, lastStart), slice.durNs, slice.name);
        lastStart = startNs;
        if (columns & kHasOp)
            writer(slice.op);
        if (columns & kHasCorrelation)
            writer(difference(slice.correlation, lastCorrelation));
        lastCorrelation = slice.correlation;
        if (columns & kHasLaunchShape)
            writer(slice.launchShape);
        if (columns & kHasBytes)
            writer(slice.bytes);
    }
    closeFrame(start);
}

void Encoder::append(LocalTrack track, std::span<const Slice> slices)
{
    while (!slices.empty()) {
        const auto batch = slices.first(std::min(slices.size(), kMaxBatchSlices));
        appendBatch(track, batch);
        slices = slices.subspan(batch.size());
    }
}

void Encoder::append(const RunBegin& record)
{
    appendRecord(record);
    m_tracks = m_layers = m_ops = m_tensors = 0;
}

LocalDevice Encoder::append(const Device& record)
{
    appendRecord(record);
    return LocalDevice(m_devices++);
}
LocalTrack Encoder::append(const Track& record)
{
    appendRecord(record);
    return LocalTrack(m_tracks++);
}
LocalName Encoder::append(const Name& record)
{
    appendRecord(record);
    return LocalName(m_names++);
}
LocalLaunchShape Encoder::append(const LaunchShape& record)
{
    appendRecord(record);
    return LocalLaunchShape(m_shapes++);
}
LocalLayer Encoder::append(const Layer& record)
{
    appendRecord(record);
    return LocalLayer(m_layers++);
}
LocalOp Encoder::append(const Op& record)
{
    appendRecord(record);
    return LocalOp(m_ops++);
}
LocalTensor Encoder::append(const Tensor& record)
{
    appendRecord(record);
    return LocalTensor(m_tensors++);
}

void Encoder::append(const Hello& record)
{
    constexpr std::size_t kMaxNameBytes = 1024;  // so that the whole stays under kMaxHelloBytes
    Hello hello = record;
    for (std::string* text : {&hello.token, &hello.processName, &hello.host})
        text->resize(cutLength(*text, kMaxNameBytes));
    appendRecord(hello);
}
void Encoder::append(const RunEnd& record) { appendRecord(record); }
void Encoder::append(const StepEnd& record) { appendRecord(record); }
void Encoder::append(const TensorStat& record) { appendRecord(record); }
void Encoder::append(const ExponentHistogram& record) { appendRecord(record); }
void Encoder::append(const StepValue& record) { appendRecord(record); }
void Encoder::append(const TensorError& record) { appendRecord(record); }
void Encoder::append(const MemoryClass& record) { appendRecord(record); }
void Encoder::append(const Sample& record) { appendRecord(record); }
void Encoder::append(const Diagnostic& record) { appendRecord(record); }
void Encoder::append(const Bye& record) { appendRecord(record); }

}  // namespace fp8scope::wire

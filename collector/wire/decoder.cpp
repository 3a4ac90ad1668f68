// SPDX-License-Identifier: Apache-2.0
#include "collector/wire/decoder.h"

#include "collector/trace/error.h"
#include "collector/wire/byte_reader.h"

#include <utility>

namespace fp8scope::wire {

namespace {

/// Ends of slices must not overflow when anyone adds start and duration: times are within 2^62 ns (146 years).
void checkSpan(std::int64_t startNs, std::int64_t durNs)
{
    constexpr std::int64_t kLimit = std::int64_t{1} << 62;
    if (durNs < 0)
        throw Malformed{"a duration is negative"};
    if (startNs < -kLimit || startNs >= kLimit || durNs >= kLimit)
        throw Malformed{"a time is out of range"};
}

void requireId(bool valid, const char* what)
{
    if (!valid)
        throw Malformed{std::string("it has no ") + what};
}

std::int64_t plus(std::int64_t base, std::int64_t delta)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(delta));
}

SliceBatch readBatch(ByteReader& reader)
{
    SliceBatch batch;
    std::uint64_t count = 0;
    std::uint8_t columns = 0;
    reader(batch.track, count, columns);
    requireId(batch.track.valid(), "track");
    constexpr std::size_t kLeastBytesPerSlice = 3;
    if (count > kMaxBatchSlices || count > reader.remaining() / kLeastBytesPerSlice)
        throw Malformed{"a batch of " + std::to_string(count) + " slices does not fit"};
    if (columns > (kHasOp | kHasCorrelation | kHasLaunchShape | kHasBytes))
        throw Malformed{"a batch has unknown columns"};

    batch.slices.resize(count);
    std::int64_t lastStart = 0, lastCorrelation = 0;
    for (Slice& slice : batch.slices) {
        std::int64_t startDelta = 0;
        reader(startDelta, slice.durNs, slice.name);
        slice.startNs = lastStart = plus(lastStart, startDelta);
        checkSpan(slice.startNs, slice.durNs);
        requireId(slice.name.valid(), "name");
        if (columns & kHasOp)
            reader(slice.op);
        if (columns & kHasCorrelation) {
            std::int64_t delta = 0;
            reader(delta);
            lastCorrelation = plus(lastCorrelation, delta);
            slice.correlation = static_cast<std::uint64_t>(lastCorrelation);
        }
        if (columns & kHasLaunchShape)
            reader(slice.launchShape);
        if (columns & kHasBytes)
            reader(slice.bytes);
    }
    return batch;
}

void check(const StepEnd& step) { checkSpan(step.startNs, step.durNs); }
void check(const RunBegin& run) { checkSpan(run.startNs, 0); }
void check(const RunEnd& run) { checkSpan(run.endNs, 0); }
void check(const TensorStat& stat) { requireId(stat.tensor.valid(), "tensor"); }
void check(const ExponentHistogram& histogram) { requireId(histogram.tensor.valid(), "tensor"); }
void check(const Sample& sample)
{
    requireId(sample.track.valid(), "track");
    checkSpan(sample.timeNs, 0);
}
void check(const auto&) {}

void readGreeting(ByteReader& reader)
{
    std::uint32_t magic = 0, version = 0;
    reader(magic);
    if (magic != kMagic)
        throw Malformed{"the other side does not speak fp8scope's protocol"};
    reader(version);
    if (version != kProtocolVersion)
        throw Malformed{"the producer speaks version " + std::to_string(version) +
                        " of the protocol, this recorder version " + std::to_string(kProtocolVersion)};
}

template <std::size_t I>
Record readAs(ByteReader& reader)
{
    using R = std::variant_alternative_t<I, Record>;
    if constexpr (std::same_as<R, SliceBatch>) {
        return readBatch(reader);
    } else {
        if constexpr (std::same_as<R, Hello>)
            readGreeting(reader);
        R record;
        fields(reader, record);
        check(record);
        return record;
    }
}

template <std::size_t... I>
Record readRecord(std::size_t kindIndex, ByteReader& reader, std::index_sequence<I...>)
{
    using Read = Record (*)(ByteReader&);
    static constexpr Read kReaders[] = {&readAs<I>...};
    return kReaders[kindIndex](reader);
}

template <typename... R>
bool isOneOf(const Record& record)
{
    return (std::holds_alternative<R>(record) || ...);
}

}  // namespace

void Decoder::feed(std::span<const std::byte> bytes)
{
    if (m_consumed > 0) {
        m_bytes.erase(m_bytes.begin(), m_bytes.begin() + static_cast<std::ptrdiff_t>(m_consumed));
        m_consumed = 0;
    }
    m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
}

void Decoder::fail(std::string what)
{
    m_failure = std::move(what);
    throw Error(m_failure, "record " + std::to_string(m_records) + " of the producer",
                "use programs of one fp8scope installation");
}

std::optional<Record> Decoder::next()
{
    if (!m_failure.empty())
        fail(m_failure);
    try {
        return decodeNext();
    } catch (const Malformed& malformed) {
        fail(malformed.what);
    }
}

std::optional<Record> Decoder::decodeNext()
{
    const auto bytes = std::span<const std::byte>(m_bytes).subspan(m_consumed);
    if (bytes.size() < kFrameBytes)
        return std::nullopt;
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
        length |= std::to_integer<std::size_t>(bytes[i]) << (8 * i);
    const auto kind = std::to_integer<std::size_t>(bytes[4]);
    if (kind == 0 || kind > std::variant_size_v<Record>)
        throw Malformed{"unknown kind " + std::to_string(kind)};
    if (!m_greeted && kind != kindOf<Hello>())
        throw Malformed{"the stream does not begin with a hello"};
    const std::size_t limit = m_greeted ? kMaxRecordBytes : kMaxHelloBytes;
    if (length > limit)
        throw Malformed{"a length of " + std::to_string(length) + " bytes is over the limit of " +
                        std::to_string(limit)};
    if (bytes.size() - kFrameBytes < length)
        return std::nullopt;

    ByteReader reader(bytes.subspan(kFrameBytes, length), m_declared);
    Record record = readRecord(kind - 1, reader, std::make_index_sequence<std::variant_size_v<Record>>());
    if (reader.remaining() != 0)
        throw Malformed{std::to_string(reader.remaining()) + " bytes are left over"};
    admit(record);
    m_consumed += kFrameBytes + length;
    ++m_records;
    return record;
}

void Decoder::admit(const Record& record)
{
    if (m_ended)
        throw Malformed{"a record follows the bye"};
    if (m_greeted && isOneOf<Hello>(record))
        throw Malformed{"a second hello"};
    if (m_inRun && isOneOf<RunBegin, Bye>(record))
        throw Malformed{"the run before was not ended"};
    if (!m_inRun && isOneOf<RunEnd, Track, Layer, Op, Tensor, SliceBatch, StepEnd, TensorStat, MemoryClass, Sample,
                            ExponentHistogram, StepValue, TensorError>(record))
        throw Malformed{"it lies outside of a run"};

    if (std::holds_alternative<RunBegin>(record)) {
        m_inRun = true;
        m_declared.tracks = m_declared.layers = m_declared.ops = m_declared.tensors = 0;
    }
    m_greeted = true;
    m_inRun = m_inRun && !isOneOf<RunEnd>(record);
    m_ended = isOneOf<Bye>(record);
    m_declared.devices += isOneOf<Device>(record);
    m_declared.names += isOneOf<Name>(record);
    m_declared.shapes += isOneOf<LaunchShape>(record);
    m_declared.tracks += isOneOf<Track>(record);
    m_declared.layers += isOneOf<Layer>(record);
    m_declared.ops += isOneOf<Op>(record);
    m_declared.tensors += isOneOf<Tensor>(record);
}

}  // namespace fp8scope::wire

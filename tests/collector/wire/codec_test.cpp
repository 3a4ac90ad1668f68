// SPDX-License-Identifier: Apache-2.0
// What the encoder writes, the decoder reads; what it did not write, the decoder names.
#include "collector/trace/error.h"
#include "collector/wire/decoder.h"
#include "tests/collector/wire/wire_samples.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace fp8scope::wire {
namespace {

using test::sampleHello;
using test::sampleRun;
using test::sampleStream;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<Record> decodeAll(std::span<const std::byte> bytes, std::size_t pieceBytes)
{
    Decoder decoder;
    std::vector<Record> records;
    while (!bytes.empty()) {
        const auto piece = bytes.first(std::min(pieceBytes, bytes.size()));
        decoder.feed(piece);
        while (auto record = decoder.next())
            records.push_back(std::move(*record));
        bytes = bytes.subspan(piece.size());
    }
    EXPECT_EQ(decoder.pendingBytes(), 0U);
    return records;
}

template <typename R>
R only(const std::vector<Record>& records)
{
    for (const Record& record : records)
        if (const R* found = std::get_if<R>(&record))
            return *found;
    ADD_FAILURE() << "no such record";
    return {};
}

/// The text of the Error that a stream gives.
std::string refusal(const Encoder& encoder)
{
    try {
        (void)decodeAll(encoder.bytes(), 1 << 20);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

Encoder greeted()
{
    Encoder encoder;
    encoder.append(sampleHello());
    return encoder;
}

TEST(WireCodecTest, EveryKindComesBackAsItWasSent)
{
    const auto records = decodeAll(sampleStream(), 1 << 20);
    ASSERT_EQ(records.size(), std::variant_size_v<Record>);

    const auto hello = only<Hello>(records);
    EXPECT_EQ(hello.token, "secret");
    EXPECT_EQ(hello.pid, 4711U);
    EXPECT_EQ(hello.rank, 3);
    EXPECT_EQ(only<Device>(records).arch, "avx2");
    EXPECT_EQ(only<Device>(records).units, 2);
    EXPECT_EQ(only<Name>(records).role, Role::Gemm);
    EXPECT_EQ(only<LaunchShape>(records).grid[2], 3U);
    EXPECT_EQ(only<RunBegin>(records).configToml, "batch = 4\n");
    EXPECT_EQ(only<Track>(records).device, LocalDevice(0));
    EXPECT_EQ(only<Layer>(records).outFeatures, 16);
    EXPECT_EQ(only<Op>(records).layer, LocalLayer(0));
    EXPECT_EQ(only<Tensor>(records).format, "e4m3");
    EXPECT_EQ(only<MemoryClass>(records).bytes, 256U);
    EXPECT_EQ(only<TensorStat>(records).amax, 2.5);
    EXPECT_TRUE(std::isnan(only<TensorStat>(records).sqnrDb));
    EXPECT_EQ(only<ExponentHistogram>(records).firstExponent, -133);
    EXPECT_EQ(only<ExponentHistogram>(records).counts, (std::vector<std::uint64_t>{7, 0, 25}));
    EXPECT_EQ(only<StepValue>(records).name, "gradient_norm");
    EXPECT_EQ(only<StepValue>(records).value, 1.25);
    EXPECT_EQ(only<TensorError>(records).layer, LocalLayer(0));
    EXPECT_EQ(only<TensorError>(records).relativeError, 0.03);
    EXPECT_EQ(only<Sample>(records).timeNs, 1'700);
    EXPECT_EQ(only<StepEnd>(records).loss, 0.25);
    EXPECT_TRUE(only<StepEnd>(records).warmup);
    EXPECT_EQ(only<Diagnostic>(records).severity, Severity::DataLoss);
    EXPECT_EQ(only<RunEnd>(records).note, "stopped after step 1");
    EXPECT_FALSE(only<RunEnd>(records).complete);
}

TEST(WireCodecTest, SlicesKeepOrderAndOptionalColumns)
{
    const auto batch = only<SliceBatch>(decodeAll(sampleStream(), 1 << 20));
    ASSERT_EQ(batch.slices.size(), 3U);
    EXPECT_EQ(batch.slices[0].startNs, 2'000);
    EXPECT_EQ(batch.slices[0].op, LocalOp(0));
    EXPECT_EQ(batch.slices[0].launchShape, LocalLaunchShape::none());
    EXPECT_EQ(batch.slices[1].startNs, 1'500);
    EXPECT_EQ(batch.slices[1].op, LocalOp::none());
    EXPECT_EQ(batch.slices[1].correlation, ~std::uint64_t{0});
    EXPECT_EQ(batch.slices[1].launchShape, LocalLaunchShape(0));
    EXPECT_EQ(batch.slices[2].startNs, -5);
    EXPECT_EQ(batch.slices[2].correlation, 0U);
    EXPECT_EQ(batch.slices[2].bytes, 1U << 20);
}

TEST(WireCodecTest, AStreamMayArriveInPiecesOfAnySize)
{
    const auto stream = sampleStream();
    for (std::size_t pieceBytes = 1; pieceBytes < 40; ++pieceBytes)
        EXPECT_EQ(decodeAll(stream, pieceBytes).size(), std::variant_size_v<Record>) << pieceBytes;
}

TEST(WireCodecTest, AnEngineSliceTakesAtMostEightBytes)
{
    Encoder encoder = greeted();
    const auto name = encoder.append(Name{.text = "op"});
    encoder.append(sampleRun());
    const auto track = encoder.append(Track{.name = "queue"});
    const auto op = encoder.append(Op{.name = "op"});
    std::vector<Slice> slices;
    for (int i = 0; i < 1000; ++i)
        slices.push_back({.startNs = i * 60'000, .durNs = 59'000, .name = name, .op = op});
    const std::size_t before = encoder.bytes().size();
    encoder.append(track, slices);
    EXPECT_LE(encoder.bytes().size() - before, 1000U * 8 + 16);
}

TEST(WireCodecTest, LongBatchesAreSplit)
{
    Encoder encoder = greeted();
    const auto name = encoder.append(Name{.text = "op"});
    encoder.append(sampleRun());
    const auto track = encoder.append(Track{.name = "queue"});
    encoder.append(track, std::vector<Slice>(kMaxBatchSlices + 1, Slice{.name = name}));
    const auto records = decodeAll(encoder.bytes(), 1 << 20);
    EXPECT_EQ(std::get<SliceBatch>(records.at(4)).slices.size(), kMaxBatchSlices);
    EXPECT_EQ(std::get<SliceBatch>(records.at(5)).slices.size(), 1U);
}

TEST(WireCodecTest, LongTextsAreCutBetweenCharacters)
{
    std::string text;
    while (text.size() <= kMaxTextBytes)
        text += "\u20ac";  // three bytes; the limit is not a multiple of three from here on
    text.insert(0, "x");
    Encoder encoder = greeted();
    encoder.append(RunBegin{.mode = "m", .planText = text});
    const auto run = only<RunBegin>(decodeAll(encoder.bytes(), 1 << 20));
    EXPECT_LE(run.planText.size(), kMaxTextBytes);
    EXPECT_GT(run.planText.size(), kMaxTextBytes - 3);
    EXPECT_EQ(run.planText.size() % 3, 1U);
}

TEST(WireCodecTest, IdsOfARunStartAgainWithTheNext)
{
    Encoder encoder = greeted();
    for (int run = 0; run < 2; ++run) {
        encoder.append(sampleRun());
        EXPECT_EQ(encoder.append(Track{.name = "queue"}), LocalTrack(0));
        EXPECT_EQ(encoder.append(Layer{.name = "layer"}), LocalLayer(0));
        encoder.append(RunEnd{});
    }
    encoder.append(Bye{});
    EXPECT_EQ(refusal(encoder), "accepted");
}

TEST(WireCodecTest, AnotherVersionIsRefusedWithBothNamed)
{
    Encoder encoder = greeted();
    std::vector<std::byte> bytes(encoder.bytes().begin(), encoder.bytes().end());
    bytes.at(5 + 5) = std::byte{99};  // after the frame and the five bytes of the magic number
    Decoder decoder;
    decoder.feed(bytes);
    try {
        (void)decoder.next();
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("version 99"), HasSubstr("version " + std::to_string(kProtocolVersion))));
    }
}

TEST(WireCodecTest, AStrangerIsToldFromAProducer)
{
    const std::string_view request = "GET / HTTP/1.1\r\n\r\n";
    Decoder decoder;
    decoder.feed(std::as_bytes(std::span(request)));
    EXPECT_THROW((void)decoder.next(), Error);
}

TEST(WireCodecTest, RecordsOutOfPlaceAreRefused)
{
    Encoder noRun = greeted();
    noRun.append(StepEnd{});
    EXPECT_THAT(refusal(noRun), HasSubstr("outside of a run"));

    Encoder twice = greeted();
    twice.append(sampleHello());
    EXPECT_THAT(refusal(twice), HasSubstr("second hello"));

    Encoder nested = greeted();
    nested.append(sampleRun());
    nested.append(sampleRun());
    EXPECT_THAT(refusal(nested), HasSubstr("was not ended"));

    Encoder late = greeted();
    late.append(Bye{});
    late.append(Diagnostic{});
    EXPECT_THAT(refusal(late), HasSubstr("follows the bye"));

    Encoder silent;
    silent.append(sampleRun());
    EXPECT_THAT(refusal(silent), HasSubstr("does not begin with a hello"));
}

TEST(WireCodecTest, UndeclaredIdsAreRefused)
{
    Encoder track = greeted();
    track.append(sampleRun());
    track.append(Sample{.track = LocalTrack(0)});
    EXPECT_THAT(refusal(track), HasSubstr("never declared"));

    Encoder noName = greeted();
    noName.append(sampleRun());
    const auto queue = noName.append(Track{.name = "queue"});
    noName.append(queue, std::vector<Slice>(1));
    EXPECT_THAT(refusal(noName), HasSubstr("no name"));

    Encoder ofTheRunBefore = greeted();
    ofTheRunBefore.append(sampleRun());
    const auto layer = ofTheRunBefore.append(Layer{.name = "layer0"});
    ofTheRunBefore.append(RunEnd{});
    ofTheRunBefore.append(sampleRun());
    (void)ofTheRunBefore.append(Op{.layer = layer});
    EXPECT_THAT(refusal(ofTheRunBefore), HasSubstr("never declared"));
}

TEST(WireCodecTest, NegativeAndOverflowingTimesAreRefused)
{
    Encoder negative = greeted();
    negative.append(sampleRun());
    negative.append(StepEnd{.startNs = 0, .durNs = -1});
    EXPECT_THAT(refusal(negative), HasSubstr("negative"));

    Encoder far = greeted();
    far.append(sampleRun());
    far.append(StepEnd{.startNs = std::numeric_limits<std::int64_t>::max(), .durNs = 1});
    EXPECT_THAT(refusal(far), HasSubstr("out of range"));
}

TEST(WireCodecTest, AHugeLengthIsRefusedBeforeItsBytesCome)
{
    std::vector<std::byte> bytes = {std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0x7f}, std::byte{1}};
    Decoder stranger;
    stranger.feed(bytes);
    EXPECT_THROW((void)stranger.next(), Error);

    Encoder encoder = greeted();
    Decoder producer;
    producer.feed(encoder.bytes());
    ASSERT_TRUE(producer.next().has_value());
    bytes[4] = std::byte{2};
    producer.feed(bytes);
    EXPECT_THROW((void)producer.next(), Error);
    EXPECT_THROW((void)producer.next(), Error) << "a failed stream stays failed";
}

/// Decodes until the end or an Error; gives the number of records.
std::size_t decodeHostile(std::span<const std::byte> bytes)
{
    Decoder decoder;
    decoder.feed(bytes);
    std::size_t records = 0;
    try {
        while (decoder.next())
            ++records;
    } catch (const Error&) {
    }
    return records;
}

TEST(WireCodecTest, RandomCorruptionGivesAnErrorOrRecordsButNeverACrash)
{
    const auto stream = sampleStream();
    std::mt19937 random(1);
    std::uniform_int_distribution<std::size_t> position(0, stream.size() - 1);
    std::uniform_int_distribution<int> value(0, 255), flips(1, 4);
    std::size_t refused = 0;
    for (int round = 0; round < 20'000; ++round) {
        auto damaged = stream;
        for (int flip = flips(random); flip > 0; --flip)
            damaged[position(random)] = static_cast<std::byte>(value(random));
        refused += decodeHostile(damaged) < std::variant_size_v<Record>;
    }
    EXPECT_GT(refused, 10'000U) << "most damage hits a length, a kind, an id or an enumerator";
}

TEST(WireCodecTest, ATruncatedStreamWaitsForMore)
{
    const auto stream = sampleStream();
    for (std::size_t length = 0; length < stream.size(); ++length) {
        Decoder decoder;
        decoder.feed(std::span(stream).first(length));
        std::size_t records = 0;
        while (decoder.next())
            ++records;
        EXPECT_LT(records, std::variant_size_v<Record>);
    }
}

}  // namespace
}  // namespace fp8scope::wire

// SPDX-License-Identifier: Apache-2.0
// What a producer (the engine's worker, later the injected library) tells the recorder: plain records, one struct a
// kind. Only the words are needed, so this part may live inside a profiled process.
//
// A connection is Hello, then anything, then Bye. Ids are the producer's own and dense: the n-th Device, Name or
// LaunchShape of a connection and the n-th Track, Layer, Op or Tensor of a run has id n; it is not sent, both sides
// count. Tracks, layers, ops, tensors, slices, steps and memory classes belong to the run that was begun last and not
// yet ended. Times are nanoseconds of the machine's CLOCK_MONOTONIC (std::chrono::steady_clock).
#pragma once

#include "collector/trace/ids.h"
#include "collector/trace/words.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace fp8scope::wire {

/// Raised with every change of a record's layout: both ends are of one installation, so nothing older is understood.
inline constexpr std::uint32_t kProtocolVersion = 2;

inline constexpr std::size_t kMaxRecordBytes = std::size_t{32} << 20;  ///< over the sum of a record's longest texts
inline constexpr std::size_t kMaxHelloBytes = 4096;  ///< a stranger cannot make the recorder hold more than this
inline constexpr std::size_t kMaxTextBytes = std::size_t{3} << 20;  ///< longer texts are cut by the encoder
inline constexpr std::size_t kMaxBatchSlices = 65536;
inline constexpr std::size_t kMaxCounts = 512;  ///< of a histogram

// Strong like the trace's ids, and of other types: a producer's id cannot be passed to a TraceWriter unmapped.
using LocalDevice = Id<struct LocalDeviceTag>;
using LocalTrack = Id<struct LocalTrackTag>;
using LocalName = Id<struct LocalNameTag>;
using LocalLaunchShape = Id<struct LocalLaunchShapeTag>;
using LocalLayer = Id<struct LocalLayerTag>;
using LocalOp = Id<struct LocalOpTag>;
using LocalTensor = Id<struct LocalTensorTag>;

/// Who connects. The token proves that the recorder's owner started the process.
struct Hello {
    std::string token;
    std::uint32_t pid = 0;
    std::string processName;
    std::string host;
    std::int32_t rank = -1;  ///< -1: not a ranked process
};

struct RunBegin {
    std::string mode;
    Origin origin = Origin::MeasuredCpu;
    std::string configToml;
    std::string planText;
    std::string tool;  ///< program and version
    std::int64_t startNs = 0;
};

struct RunEnd {
    std::int64_t endNs = 0;
    bool complete = true;
    std::string note;  ///< why it is incomplete, in one sentence; else empty
};

/// As fp8scope::Device; peaks are 0 where unknown.
struct Device {
    std::string name, kind, arch;
    std::int32_t units = 0;
    double peakFp8 = 0, peak16 = 0, peak32 = 0, peakBandwidth = 0;
    std::uint64_t memoryBytes = 0;
    bool hasFp8 = false;
};

struct Track {
    TrackKind kind = TrackKind::DeviceQueue;
    std::string name;
    LocalDevice device;  ///< none() for CPU threads and annotations
};

struct Name {
    std::string text;
    NameKind kind = NameKind::Kernel;
    Role role = Role::Other;
    RoleSet fused{};
    Precision precision = Precision::Unknown;
    std::string library;
};

struct LaunchShape {
    std::array<std::uint32_t, 3> grid{}, block{}, cluster{};
    std::uint32_t registers = 0, staticShared = 0, dynamicShared = 0;
};

struct Layer {
    std::uint32_t index = 0;
    std::string name;
    std::int64_t inFeatures = 0, outFeatures = 0;
    std::string precision, reason;
};

/// As fp8scope::TraceOp.
struct Op {
    std::uint32_t index = 0;
    LocalLayer layer;
    std::string name;
    Phase phase = Phase::Other;
    Role role = Role::Other;
    RoleSet fused{};
    std::int64_t m = 0, n = 0, k = 0;
    std::string aType, bType, dType, recipe, epilogue;
    double flops = 0;
    std::uint64_t bytes = 0;
};

/// A tensor that is quantized: what its TensorStats have in common.
struct Tensor {
    LocalLayer layer;
    std::string name, format;
};

struct Slice {
    std::int64_t startNs = 0;
    std::int64_t durNs = 0;
    LocalName name;  ///< must be valid
    LocalOp op;
    std::uint64_t correlation = 0;
    LocalLaunchShape launchShape;
    std::uint64_t bytes = 0;
};

/// Slices of one track, in any order; at most kMaxBatchSlices.
struct SliceBatch {
    LocalTrack track;
    std::vector<Slice> slices;
};

/// A step is over, and everything that belongs to it has been sent.
struct StepEnd {
    std::uint32_t index = 0;
    std::int64_t startNs = 0;
    std::int64_t durNs = 0;
    bool warmup = false;
    double loss = std::numeric_limits<double>::quiet_NaN();
};

struct TensorStat {
    LocalTensor tensor;
    std::uint32_t step = 0;
    double amax = 0, scale = 1;
    std::uint64_t count = 0, saturated = 0, underflowed = 0, zeros = 0;
    double sqnrDb = std::numeric_limits<double>::quiet_NaN();
};

struct MemoryClass {
    std::string name;
    std::uint64_t bytes = 0;
};

struct Sample {
    LocalTrack track;
    std::int64_t timeNs = 0;
    double value = 0;
};

struct Diagnostic {
    std::string name;
    Severity severity = Severity::Info;
    std::uint64_t count = 1;
    std::string text;
};

/// As fp8scope::ExponentHistogram.
struct ExponentHistogram {
    LocalTensor tensor;
    std::uint32_t step = 0;
    std::int32_t firstExponent = 0;
    std::vector<std::uint64_t> counts;
};

/// As fp8scope::StepValue.
struct StepValue {
    std::uint32_t step = 0;
    std::string name;
    double value = 0;
};

/// As fp8scope::TensorError.
struct TensorError {
    LocalLayer layer;
    std::uint32_t step = 0;
    std::string tensor;
    double relativeError = 0;
};

/// The producer ends in order; a connection that closes without it was lost.
struct Bye {};

/// In the order of their kind byte on the wire, which is the index here plus one. New kinds go to the end.
using Record =
    std::variant<Hello, RunBegin, RunEnd, Device, Track, Name, LaunchShape, Layer, Op, Tensor, SliceBatch, StepEnd,
                 TensorStat, MemoryClass, Sample, Diagnostic, Bye, ExponentHistogram, StepValue, TensorError>;

}  // namespace fp8scope::wire

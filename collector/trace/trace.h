// SPDX-License-Identifier: Apache-2.0
// A trace in memory: plain tables, and slices as structure of arrays, one set of columns a track.
// Ids are dense indices into the vectors below. `loadTrace` and `TraceBuilder` give only traces whose ids and ranges
// hold; readers may index without checks.
#pragma once

#include "collector/trace/column.h"
#include "collector/trace/ids.h"
#include "collector/trace/words.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fp8scope {

/// One training run (one mode of one configuration). A file holds one or more.
struct Run {
    std::string mode;  ///< "bf16", "fp8", "fp8-fused", or a name that an importer gave
    Origin origin = Origin::MeasuredCpu;
    std::string configToml;  ///< the complete configuration, defaults written out; empty for imported traces
    std::string planText;    ///< what `--print-plan` prints; empty where there is no plan
    std::string tool;        ///< program and version that made the run
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;  ///< equal to startNs while unfinished
    bool complete = false;   ///< false: killed, cancelled or out of disk; what is there is still whole steps
    std::string note;        ///< why it is incomplete, in one sentence; else empty
};

struct Process {
    std::uint32_t pid = 0;
    std::string name;
    std::string host;
    std::int32_t rank = -1;  ///< -1: not a ranked process
};

/// A GPU, or the CPU that the executor ran on. Peaks are 0 where unknown; FLOP/s and bytes/s.
struct Device {
    std::string name;
    std::string kind;        ///< "cpu" or "gpu"
    std::string arch;        ///< "sm_90", or the CPU's vector level ("avx512")
    std::int32_t units = 0;  ///< SMs or cores
    double peakFp8 = 0;
    double peak16 = 0;
    double peak32 = 0;
    double peakBandwidth = 0;
    std::uint64_t memoryBytes = 0;
    bool hasFp8 = false;  ///< false on a CPU: the ideal gain of an fp8 GEMM is then 1
};

/// What belongs to a kernel's (op's, range's) name, once.
struct Name {
    std::string text;
    NameKind kind = NameKind::Kernel;
    Role role = Role::Other;
    RoleSet fused{};
    Precision precision = Precision::Unknown;
    std::string library;  ///< "oneDNN", "cuBLAS", "fp8scope", ...; may be empty
};

struct LaunchShape {
    std::uint32_t grid[3] = {0, 0, 0};
    std::uint32_t block[3] = {0, 0, 0};
    std::uint32_t cluster[3] = {0, 0, 0};
    std::uint32_t registers = 0;
    std::uint32_t staticShared = 0;
    std::uint32_t dynamicShared = 0;
    friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

/// A layer of a run's model.
struct Layer {
    RunId run;
    std::uint32_t index = 0;  ///< position in the model, from 0
    std::string name;         ///< "layer0", "out", or a module path
    std::int64_t inFeatures = 0;
    std::int64_t outFeatures = 0;
    std::string precision;  ///< "fp8" or "bf16"
    std::string reason;     ///< why it is not fp8, or empty
};

/// An op of a run's plan: what the slices that refer to it did.
struct TraceOp {
    RunId run;
    std::uint32_t index = 0;  ///< position in the plan
    LayerId layer;            ///< none() for ops of no layer (loss, bulk updates)
    std::string name;         ///< "layer2.fwd.cast_x"
    Phase phase = Phase::Other;
    Role role = Role::Other;
    RoleSet fused{};
    std::int64_t m = 0, n = 0, k = 0;  ///< GEMMs: row-major Y[m,n] = X[m,k] W[n,k]^T; else m x n elements, k = 0
    std::string aType, bType, dType;   ///< "e4m3", "bf16", ...
    std::string recipe;                ///< of the scales used; empty without
    std::string epilogue;              ///< "bias", "relu_bias"; empty without
    double flops = 0;
    std::uint64_t bytes = 0;  ///< the least that must be read and written
};

struct Step {
    RunId run;
    std::uint32_t index = 0;
    std::int64_t startNs = 0;
    std::int64_t durNs = 0;
    bool warmup = false;  ///< declared by the recorder; analysis finds warm-up itself as well
    double loss = 0;      ///< NaN where unknown
};

/// Statistics of one quantization of one tensor in one step.
struct TensorStat {
    RunId run;
    std::uint32_t step = 0;
    LayerId layer;
    std::string tensor;  ///< "layer2.x", "layer2.w", "layer2.dy"
    std::string format;  ///< "e4m3" or "e5m2"
    double amax = 0;
    double scale = 1;  ///< the multiplier that the cast used
    std::uint64_t count = 0;
    std::uint64_t saturated = 0;    ///< |x * scale| over the format's largest value
    std::uint64_t underflowed = 0;  ///< non-zero that became zero
    std::uint64_t zeros = 0;        ///< zero before the cast
    double sqnrDb = 0;              ///< NaN where not computed
};

/// How the magnitudes of a tensor are spread in one step, in powers of two, before scaling: counts[i] elements of a
/// sample have 2^(firstExponent + i) <= |x| < 2^(firstExponent + i + 1). Zeros are in no bin.
struct ExponentHistogram {
    RunId run;
    std::uint32_t step = 0;
    LayerId layer;
    std::string tensor;  ///< as in TensorStat
    std::string format;
    std::int32_t firstExponent = 0;
    std::vector<std::uint64_t> counts;  ///< at most kMostExponents
    static constexpr std::size_t kMostExponents = 512;
};

/// A figure of a whole step.
struct StepValue {
    RunId run;
    std::uint32_t step = 0;
    std::string name;  ///< "gradient_norm", ...
    double value = 0;
};

/// How far a tensor of a step is from what bf16 makes of the same weights and the same batch: |a - b| / |b|.
struct TensorError {
    RunId run;
    std::uint32_t step = 0;
    LayerId layer;
    std::string tensor;  ///< "layer2.y" (output), "layer2.dx", "layer2.dw" (gradients)
    double relativeError = 0;
};

/// Peak bytes of one class of tensors in a run's arena.
struct MemoryClass {
    RunId run;
    std::string name;  ///< "weights", "master", "optimizer", "activations", "fp8 copies", "transposes", ...
    std::uint64_t bytes = 0;
};

struct Sample {
    TrackId track;  ///< of kind Counter
    std::int64_t timeNs = 0;
    double value = 0;
};

/// An oddity that was counted instead of thrown.
struct Diagnostic {
    RunId run;  ///< none(): of the whole file
    std::string name;
    Severity severity = Severity::Info;
    std::uint64_t count = 0;
    std::string text;
};

/// The slices of one track, sorted by start (then longer first). Optional columns are empty or of size().
struct SliceColumns {
    Column<std::int64_t> startNs;
    Column<std::int64_t> durNs;
    Column<NameId> name;
    Column<OpId> op;
    Column<std::uint64_t> correlation;  ///< optional; 0 is "none"
    Column<LaunchShapeId> launchShape;  ///< optional; kernel tracks
    Column<std::uint64_t> bytes;        ///< optional; copies
    Column<std::uint8_t> lane;          ///< optional; absent when nothing overlaps; saturates at 255

    [[nodiscard]] std::size_t size() const { return startNs.size(); }
    [[nodiscard]] std::int64_t endNs(std::size_t i) const { return startNs[i] + durNs[i]; }
};

struct Track {
    RunId run;
    ProcessId process;
    DeviceId device;  ///< none() for CPU threads and annotations
    TrackKind kind = TrackKind::DeviceQueue;
    std::string name;
    SliceColumns slices;
    std::uint32_t laneCount = 1;
};

struct Trace {
    std::map<std::string, std::string> meta;  ///< keys: resources/help/trace-format.md
    bool complete = true;                     ///< false: the writer did not get to close the file
    std::vector<Run> runs;
    std::vector<Process> processes;
    std::vector<Device> devices;
    std::vector<Track> tracks;
    std::vector<Name> names;
    std::vector<LaunchShape> launchShapes;
    std::vector<Layer> layers;
    std::vector<TraceOp> ops;
    std::vector<Step> steps;  ///< by run, then index
    std::vector<TensorStat> tensorStats;
    std::vector<ExponentHistogram> histograms;
    std::vector<StepValue> stepValues;
    std::vector<TensorError> tensorErrors;
    std::vector<MemoryClass> memory;
    std::vector<Sample> samples;
    std::vector<Diagnostic> diagnostics;

    [[nodiscard]] const Run& run(RunId id) const { return runs[id.value]; }
    [[nodiscard]] const Track& track(TrackId id) const { return tracks[id.value]; }
    [[nodiscard]] const Name& name(NameId id) const { return names[id.value]; }
    [[nodiscard]] const TraceOp& op(OpId id) const { return ops[id.value]; }
    [[nodiscard]] const Layer& layer(LayerId id) const { return layers[id.value]; }
    [[nodiscard]] std::size_t sliceCount() const;
    /// First start and last end over all slices and steps; {0, 0} for an empty trace.
    struct TimeRange {
        std::int64_t startNs = 0, endNs = 0;
    };
    [[nodiscard]] TimeRange timeRange() const;
};

/// Sorts each track's slices and gives overlapping ones lanes (the first free one); what every source of a Trace calls
/// last.
void finishTracks(Trace& trace);
/// The same for one track.
void finishTrack(Track& track);

}  // namespace fp8scope

// SPDX-License-Identifier: Apache-2.0
// Which column holds which field: for every table one `visit`, which names the fields in the order of the table's
// columns (after the id). The writer's binder and the reader both go through it, so that they cannot drift apart.
#pragma once

#include "collector/trace/trace.h"

#include <concepts>
#include <type_traits>

namespace fp8scope::rows {

/// How many rows the tables have that others refer to.
struct Counts {
    std::uint32_t runs = 0;
    std::uint32_t processes = 0;
    std::uint32_t devices = 0;
    std::uint32_t tracks = 0;
    std::uint32_t layers = 0;
};

template <typename Row>
inline constexpr const char* kTable = nullptr;
template <>
inline constexpr const char* kTable<Run> = "run";
template <>
inline constexpr const char* kTable<Process> = "process";
template <>
inline constexpr const char* kTable<Device> = "device";
template <>
inline constexpr const char* kTable<Track> = "track";
template <>
inline constexpr const char* kTable<Name> = "name";
template <>
inline constexpr const char* kTable<LaunchShape> = "launch_shape";
template <>
inline constexpr const char* kTable<Layer> = "layer";
template <>
inline constexpr const char* kTable<TraceOp> = "op";
template <>
inline constexpr const char* kTable<Step> = "step";
template <>
inline constexpr const char* kTable<TensorStat> = "tensor_stat";
template <>
inline constexpr const char* kTable<ExponentHistogram> = "exponent_histogram";
template <>
inline constexpr const char* kTable<StepValue> = "step_value";
template <>
inline constexpr const char* kTable<TensorError> = "tensor_error";
template <>
inline constexpr const char* kTable<MemoryClass> = "memory_class";
template <>
inline constexpr const char* kTable<Sample> = "sample";
template <>
inline constexpr const char* kTable<Diagnostic> = "diagnostic";

/// `T` is Row or const Row: the reader fills rows, the writer only looks.
template <typename T, typename Row>
concept RowOf = std::same_as<std::remove_const_t<T>, Row>;

// An Io has: field(x) for texts, numbers, lists of counts, enums and role sets; real(x) where NaN is stored as NULL;
// time(x) and duration(x) in ns; reference(id, count) and optionalReference(id, count).

template <typename Io, RowOf<Run> R>
void visit(Io& io, const Counts&, R& r)
{
    io.field(r.mode);
    io.field(r.origin);
    io.field(r.configToml);
    io.field(r.planText);
    io.field(r.tool);
    io.time(r.startNs);
    io.time(r.endNs);
    io.field(r.complete);
    io.field(r.note);
}

template <typename Io, RowOf<Process> R>
void visit(Io& io, const Counts&, R& r)
{
    io.field(r.pid);
    io.field(r.name);
    io.field(r.host);
    io.field(r.rank);
}

template <typename Io, RowOf<Device> R>
void visit(Io& io, const Counts&, R& r)
{
    io.field(r.name);
    io.field(r.kind);
    io.field(r.arch);
    io.field(r.units);
    io.field(r.peakFp8);
    io.field(r.peak16);
    io.field(r.peak32);
    io.field(r.peakBandwidth);
    io.field(r.memoryBytes);
    io.field(r.hasFp8);
}

template <typename Io, RowOf<Track> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.reference(r.run, counts.runs);
    io.reference(r.process, counts.processes);
    io.optionalReference(r.device, counts.devices);
    io.field(r.kind);
    io.field(r.name);
}

template <typename Io, RowOf<Name> R>
void visit(Io& io, const Counts&, R& r)
{
    io.field(r.text);
    io.field(r.kind);
    io.field(r.role);
    io.field(r.fused);
    io.field(r.precision);
    io.field(r.library);
}

template <typename Io, RowOf<LaunchShape> R>
void visit(Io& io, const Counts&, R& r)
{
    for (auto* triple : {&r.grid, &r.block, &r.cluster}) {
        for (auto& extent : *triple)
            io.field(extent);
    }
    io.field(r.registers);
    io.field(r.staticShared);
    io.field(r.dynamicShared);
}

template <typename Io, RowOf<Layer> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.reference(r.run, counts.runs);
    io.field(r.index);
    io.field(r.name);
    io.field(r.inFeatures);
    io.field(r.outFeatures);
    io.field(r.precision);
    io.field(r.reason);
}

template <typename Io, RowOf<TraceOp> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.reference(r.run, counts.runs);
    io.field(r.index);
    io.optionalReference(r.layer, counts.layers);
    io.field(r.name);
    io.field(r.phase);
    io.field(r.role);
    io.field(r.fused);
    io.field(r.m);
    io.field(r.n);
    io.field(r.k);
    io.field(r.aType);
    io.field(r.bType);
    io.field(r.dType);
    io.field(r.recipe);
    io.field(r.epilogue);
    io.field(r.flops);
    io.field(r.bytes);
}

template <typename Io, RowOf<Step> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.reference(r.run, counts.runs);
    io.field(r.index);
    io.time(r.startNs);
    io.duration(r.durNs);
    io.field(r.warmup);
    io.real(r.loss);
}

template <typename Io, RowOf<TensorStat> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.reference(r.run, counts.runs);
    io.field(r.step);
    io.optionalReference(r.layer, counts.layers);
    io.field(r.tensor);
    io.field(r.format);
    io.real(r.amax);
    io.real(r.scale);
    io.field(r.count);
    io.field(r.saturated);
    io.field(r.underflowed);
    io.field(r.zeros);
    io.real(r.sqnrDb);
}

template <typename Io, RowOf<ExponentHistogram> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.reference(r.run, counts.runs);
    io.field(r.step);
    io.optionalReference(r.layer, counts.layers);
    io.field(r.tensor);
    io.field(r.format);
    io.field(r.firstExponent);
    io.field(r.counts);
}

template <typename Io, RowOf<StepValue> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.reference(r.run, counts.runs);
    io.field(r.step);
    io.field(r.name);
    io.real(r.value);
}

template <typename Io, RowOf<TensorError> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.reference(r.run, counts.runs);
    io.field(r.step);
    io.optionalReference(r.layer, counts.layers);
    io.field(r.tensor);
    io.real(r.relativeError);
}

template <typename Io, RowOf<MemoryClass> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.reference(r.run, counts.runs);
    io.field(r.name);
    io.field(r.bytes);
}

template <typename Io, RowOf<Sample> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.reference(r.track, counts.tracks);
    io.time(r.timeNs);
    io.real(r.value);
}

template <typename Io, RowOf<Diagnostic> R>
void visit(Io& io, const Counts& counts, R& r)
{
    io.optionalReference(r.run, counts.runs);
    io.field(r.name);
    io.field(r.severity);
    io.field(r.count);
    io.field(r.text);
}

}  // namespace fp8scope::rows

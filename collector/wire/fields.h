// SPDX-License-Identifier: Apache-2.0
// The layout of every record, written once: the encoder and the decoder walk the same list of fields, so they cannot
// disagree.
#pragma once

#include "collector/wire/records.h"

#include <concepts>
#include <type_traits>

namespace fp8scope::wire {

template <typename T, typename R>
concept Is = std::same_as<std::remove_const_t<T>, R>;

/// An enumerator's largest value, for the decoder's range check.
template <typename E>
inline constexpr E kLastOf = E{};
template <>
inline constexpr Role kLastOf<Role> = Role::Other;
template <>
inline constexpr Phase kLastOf<Phase> = Phase::Other;
template <>
inline constexpr Precision kLastOf<Precision> = Precision::Mixed;
template <>
inline constexpr Origin kLastOf<Origin> = Origin::Imported;
template <>
inline constexpr NameKind kLastOf<NameKind> = NameKind::Step;
template <>
inline constexpr TrackKind kLastOf<TrackKind> = TrackKind::Counter;
template <>
inline constexpr Severity kLastOf<Severity> = Severity::Error;

// The protocol version precedes Hello's fields, see Encoder and Decoder.
void fields(auto& io, Is<Hello> auto& r) { io(r.token, r.pid, r.processName, r.host, r.rank); }
void fields(auto& io, Is<RunBegin> auto& r) { io(r.mode, r.origin, r.configToml, r.planText, r.tool, r.startNs); }
void fields(auto& io, Is<RunEnd> auto& r) { io(r.endNs, r.complete, r.note); }
void fields(auto& io, Is<Device> auto& r)
{
    io(r.name, r.kind, r.arch, r.units, r.peakFp8, r.peak16, r.peak32, r.peakBandwidth, r.memoryBytes, r.hasFp8);
}
void fields(auto& io, Is<Track> auto& r) { io(r.kind, r.name, r.device); }
void fields(auto& io, Is<Name> auto& r) { io(r.text, r.kind, r.role, r.fused, r.precision, r.library); }
void fields(auto& io, Is<LaunchShape> auto& r)
{
    io(r.grid, r.block, r.cluster, r.registers, r.staticShared, r.dynamicShared);
}
void fields(auto& io, Is<Layer> auto& r) { io(r.index, r.name, r.inFeatures, r.outFeatures, r.precision, r.reason); }
void fields(auto& io, Is<Op> auto& r)
{
    io(r.index, r.layer, r.name, r.phase, r.role, r.fused, r.m, r.n, r.k);
    io(r.aType, r.bType, r.dType, r.recipe, r.epilogue, r.flops, r.bytes);
}
void fields(auto& io, Is<Tensor> auto& r) { io(r.layer, r.name, r.format); }
void fields(auto& io, Is<StepEnd> auto& r) { io(r.index, r.startNs, r.durNs, r.warmup, r.loss); }
void fields(auto& io, Is<TensorStat> auto& r)
{
    io(r.tensor, r.step, r.amax, r.scale, r.count, r.saturated, r.underflowed, r.zeros, r.sqnrDb);
}
void fields(auto& io, Is<ExponentHistogram> auto& r) { io(r.tensor, r.step, r.firstExponent, r.counts); }
void fields(auto& io, Is<StepValue> auto& r) { io(r.step, r.name, r.value); }
void fields(auto& io, Is<TensorError> auto& r) { io(r.layer, r.step, r.tensor, r.relativeError); }
void fields(auto& io, Is<MemoryClass> auto& r) { io(r.name, r.bytes); }
void fields(auto& io, Is<Sample> auto& r) { io(r.track, r.timeNs, r.value); }
void fields(auto& io, Is<Diagnostic> auto& r) { io(r.name, r.severity, r.count, r.text); }
void fields(auto&, Is<Bye> auto&) {}

// SliceBatch is laid out by hand: a track, a count, this byte of columns, then the slices, delta-coded.
inline constexpr std::uint8_t kHasOp = 1, kHasCorrelation = 2, kHasLaunchShape = 4, kHasBytes = 8;

// A record's frame: payload bytes as a little-endian u32, then the kind.
inline constexpr std::size_t kFrameBytes = 5;
// The first bytes of Hello's payload, before the version, so that a stranger is told from another version.
inline constexpr std::uint32_t kMagic = 0x57533846;  // "F8SW"

template <typename R, std::size_t I = 0>
[[nodiscard]] consteval std::uint8_t kindOf()
{
    if constexpr (std::same_as<std::variant_alternative_t<I, Record>, R>)
        return I + 1;
    else
        return kindOf<R, I + 1>();
}

}  // namespace fp8scope::wire

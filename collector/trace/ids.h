// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace fp8scope {

/// A strong index into one table of a trace: a NameId cannot be passed where a TrackId is meant. `none()` is "no row".
template <typename Tag>
struct Id {
    std::uint32_t value = std::numeric_limits<std::uint32_t>::max();

    constexpr Id() = default;
    constexpr explicit Id(std::uint32_t v) : value(v) {}
    [[nodiscard]] static constexpr Id none() { return Id(); }
    [[nodiscard]] constexpr bool valid() const { return value != std::numeric_limits<std::uint32_t>::max(); }
    friend constexpr auto operator<=>(Id, Id) = default;
};

using RunId = Id<struct RunTag>;
using ProcessId = Id<struct ProcessTag>;
using DeviceId = Id<struct DeviceTag>;
using TrackId = Id<struct TrackTag>;
using NameId = Id<struct NameTag>;
using OpId = Id<struct OpTag>;
using LayerId = Id<struct LayerTag>;
using LaunchShapeId = Id<struct LaunchShapeTag>;

/// One slice of a trace: its track and its position on it (slices of a track are sorted by start).
struct SliceRef {
    TrackId track;
    std::uint32_t index = 0;
    [[nodiscard]] constexpr bool valid() const { return track.valid(); }
    friend constexpr auto operator<=>(const SliceRef&, const SliceRef&) = default;
};

}  // namespace fp8scope

template <typename Tag>
struct std::hash<fp8scope::Id<Tag>> {
    std::size_t operator()(fp8scope::Id<Tag> id) const noexcept { return id.value; }
};

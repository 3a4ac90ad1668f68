// SPDX-License-Identifier: Apache-2.0
#include "collector/export/track_places.h"

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace fp8scope::exporter {
namespace {

constexpr std::size_t kMostRows = 255;

/// 7 of "GPU 0 stream 7", 4242 of "thread 4242 (python3)".
std::optional<std::uint64_t> numberIn(std::string_view name)
{
    for (const std::string_view word : {std::string_view("stream "), std::string_view("thread ")}) {
        const std::size_t at = name.find(word);
        if (at == std::string_view::npos)
            continue;
        const std::string_view digits = name.substr(at + word.size());
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error == std::errc() && (end == digits.data() + digits.size() || *end == ' '))
            return number;
    }
    return std::nullopt;
}

template <typename T>
T freeFrom(std::set<T>& taken, T wanted)
{
    while (!taken.insert(wanted).second)
        ++wanted;
    return wanted;
}

}  // namespace

TracePlaces placeTracks(const Trace& trace)
{
    TracePlaces places;
    std::set<std::uint32_t> pids;
    std::vector<std::uint32_t> processPid;
    for (const Process& process : trace.processes)
        processPid.push_back(freeFrom(pids, process.pid == 0 ? 1 : process.pid));
    for (std::uint32_t device = 0; device < trace.devices.size(); ++device)
        places.devicePid.push_back(freeFrom(pids, device));
    // Key: process and device; UINT32_MAX for what is on no device.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint64_t>> rows;
    for (const Track& track : trace.tracks) {
        const std::uint32_t process = track.process.valid() ? track.process.value : UINT32_MAX;
        auto& taken = rows[{track.device.valid() ? UINT32_MAX : process, track.device.value}];
        TrackPlace place;
        place.pid = track.process.valid() ? processPid[process] : 0;
        place.row = freeFrom(taken, numberIn(track.name).value_or(1));
        places.tracks.push_back(place);
    }
    return places;
}

std::vector<std::uint8_t> nestedRows(const Track& track)
{
    const SliceColumns& s = track.slices;
    std::vector<std::uint8_t> rowOf(s.size(), 0);
    if (track.kind == TrackKind::DeviceQueue) {
        for (std::size_t i = 0; i < s.lane.size(); ++i)
            rowOf[i] = s.lane[i];
        return rowOf;
    }
    std::vector<std::vector<std::int64_t>> open(1);  // by row: the ends of the slices that are not over, innermost last
    for (std::size_t i = 0; i < s.size(); ++i) {
        std::size_t row = 0;
        for (;; ++row) {
            if (row == open.size() && row < kMostRows)
                open.emplace_back();
            std::vector<std::int64_t>& ends = open[std::min(row, open.size() - 1)];
            while (!ends.empty() && ends.back() <= s.startNs[i])
                ends.pop_back();
            if (ends.empty() || s.endNs(i) <= ends.back() || row >= kMostRows) {
                ends.push_back(s.endNs(i));
                break;
            }
        }
        rowOf[i] = static_cast<std::uint8_t>(std::min(row, kMostRows));
    }
    return rowOf;
}

}  // namespace fp8scope::exporter

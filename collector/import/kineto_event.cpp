// SPDX-License-Identifier: Apache-2.0
#include "collector/import/kineto_event.h"

#include "collector/import/key_table.h"

#include <charconv>
#include <utility>

namespace fp8scope::import {
namespace {

constexpr std::pair<std::string_view, EventKey> kEventKeys[] = {
    {"ph", EventKey::Phase}, {"cat", EventKey::Category}, {"name", EventKey::Name},
    {"pid", EventKey::Pid},  {"tid", EventKey::Tid},      {"ts", EventKey::Ts},
    {"dur", EventKey::Dur},  {"id", EventKey::Id},        {"args", EventKey::Args},
};

constexpr std::pair<std::string_view, ArgKey> kArgs[] = {
    {"External id", ArgKey::ExternalId},
    {"external id", ArgKey::ExternalId},  // 2021
    {"correlation", ArgKey::Correlation},
    {"device", ArgKey::Device},
    {"stream", ArgKey::Stream},
    {"bytes", ArgKey::Bytes},
    {"size", ArgKey::Bytes},  // ROCm, MTIA
    {"grid", ArgKey::Grid},
    {"block", ArgKey::Block},
    {"registers per thread", ArgKey::Registers},
    {"shared memory", ArgKey::SharedMemory},
    {"graph node id", ArgKey::GraphNode},
    {"Input Dims", ArgKey::Dims},
    {"Input dims", ArgKey::Dims},  // 2021
    {"Input type", ArgKey::Types},
    {"Input Strides", ArgKey::Strides},
    {"Concrete Inputs", ArgKey::Concrete},
    {"Module Hierarchy", ArgKey::ModuleHierarchy},
    {"Sequence number", ArgKey::SequenceNumber},
    {"Fwd thread id", ArgKey::ForwardThread},
    {"Collective name", ArgKey::Collective},
    {"In msg nelems", ArgKey::MessageElements},
    {"Group size", ArgKey::GroupSize},
    {"dtype", ArgKey::Dtype},
    {"Process Group Name", ArgKey::Group},
    {"Process Group Ranks", ArgKey::GroupRanks},
    {"Seq", ArgKey::Sequence},
    {"name", ArgKey::NameOfRow},
    {"labels", ArgKey::LabelsOfRow},
    {"Bytes", ArgKey::MemoryBytes},
    {"Total Allocated", ArgKey::MemoryAllocated},
    {"Total Reserved", ArgKey::MemoryReserved},
    {"Device Type", ArgKey::MemoryDeviceType},
    {"Device Id", ArgKey::MemoryDevice},
};

constexpr KeyTable<EventKey, 32> kEventTable(kEventKeys);
constexpr KeyTable<ArgKey, 128> kArgTable(kArgs);

struct Number {
    bool negative = false;
    int base = 10;
    std::string_view digits;
};

Number partsOf(std::string_view text)
{
    Number number;
    if (text.starts_with('-')) {
        number.negative = true;
        text.remove_prefix(1);
    }
    if (text.starts_with("0x") || text.starts_with("0X")) {
        number.base = 16;
        text.remove_prefix(2);
    }
    number.digits = text;
    return number;
}

}  // namespace

EventKey eventKeyOf(std::string_view key) { return kEventTable.find(key, EventKey::None); }

ArgKey argKeyOf(std::string_view key) { return kArgTable.find(key, ArgKey::None); }

std::uint64_t RawValue::number(std::uint64_t fallback) const
{
    const Number parts = partsOf(unquoted());
    std::uint64_t value = 0;
    const char* const end = parts.digits.data() + parts.digits.size();
    const auto [stop, error] = std::from_chars(parts.digits.data(), end, value, parts.base);
    if (error != std::errc() || (stop != end && *stop != '.'))  // "12.0" is 12
        return fallback;
    return parts.negative ? std::uint64_t{0} - value : value;
}

bool RawValue::isNumber() const
{
    const Number parts = partsOf(unquoted());
    std::uint64_t value = 0;
    const char* const end = parts.digits.data() + parts.digits.size();
    const auto [stop, error] = std::from_chars(parts.digits.data(), end, value, parts.base);
    return error == std::errc() && stop == end;
}

}  // namespace fp8scope::import

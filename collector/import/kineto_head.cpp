// SPDX-License-Identifier: Apache-2.0
#include "collector/import/kineto_head.h"

#include "collector/import/kineto_event.h"
#include "collector/import/mend_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>

namespace fp8scope::import {
namespace {

constexpr std::size_t kMostValue = std::size_t{4} << 20;  ///< of a member: devices and groups are some kilobytes
constexpr std::size_t kMostKeys = 256;
constexpr std::size_t kMostLogLines = 20;
constexpr std::size_t kMostLogLine = 400;
constexpr std::int64_t kMostBase = 2'300'000'000'000'000'000;  ///< as for the events' times

/// What is worth keeping of the writer's own facts. Users, hosts and job environments are not.
constexpr std::array<std::string_view, 16> kKept{
    "schemaVersion",     "cupti_version",       "cuda_runtime_version", "cuda_driver_version",
    "roctracer_version", "hip_runtime_version", "hip_driver_version",   "record_shapes",
    "with_stack",        "with_flops",          "with_modules",         "profile_memory",
    "trace_id",          "displayTimeUnit",     "baseTimeNanoseconds",  "distributedInfo"};

namespace dom = simdjson::dom;

std::string text(const dom::element& object, const char* key)
{
    std::string_view value;
    return object[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

std::int64_t number(const dom::element& object, const char* key, std::int64_t fallback = 0)
{
    std::int64_t value = 0;
    return object[key].get(value) == simdjson::SUCCESS ? value : fallback;
}

/// AMD's wavefronts are 64 wide on all its data centre parts; names can be empty.
bool isAmd(const dom::element& device)
{
    const std::string name = text(device, "name");
    return name.starts_with("AMD") || (name.empty() && number(device, "warpSize") == 64);
}

Device deviceOf(const dom::element& json)
{
    Device device;
    device.kind = "gpu";
    device.name = text(json, "name");
    device.units = static_cast<std::int32_t>(std::clamp<std::int64_t>(number(json, "numSms"), 0, INT32_MAX));
    device.memoryBytes = static_cast<std::uint64_t>(std::max<std::int64_t>(number(json, "totalGlobalMem"), 0));
    const std::int64_t major = number(json, "computeMajor");
    const std::int64_t minor = number(json, "computeMinor");
    if (isAmd(json)) {
        device.arch = fmt::format("gfx{}{}", major, minor);
        device.hasFp8 = major * 10 + minor >= 94;
        if (device.name.empty())
            device.name = "AMD GPU";
    } else if (major > 0) {
        device.arch = fmt::format("sm_{}{}", major, minor);
        device.hasFp8 = major * 10 + minor >= 89;
    }
    if (device.name.empty())
        device.name = "GPU";
    return device;
}

void takeDevices(KinetoHead& head, const dom::element& json)
{
    dom::array devices;
    if (json.get(devices) != simdjson::SUCCESS)
        return;
    for (const dom::element device : devices) {
        if (device.is_object())
            head.devices.push_back(
                {number(device, "id", static_cast<std::int64_t>(head.devices.size())), deviceOf(device)});
    }
}

void takeDistributed(KinetoHead& head, const dom::element& json)
{
    const std::int64_t rank = number(json, "rank", -1);
    if (rank >= 0 && rank <= INT32_MAX)
        head.rank = static_cast<std::int32_t>(rank);
    head.meta["kineto.backend"] = text(json, "backend");
    if (const std::int64_t size = number(json, "world_size"); size > 0)
        head.meta["kineto.world_size"] = std::to_string(size);
    if (const std::string nccl = text(json, "nccl_version"); !nccl.empty())
        head.meta["kineto.nccl_version"] = nccl;
}

void takeLog(KinetoHead& head, std::string_view key, const dom::element& json)
{
    dom::array lines;
    if (key == "INFO" || json.get(lines) != simdjson::SUCCESS)
        return;
    std::size_t taken = 0;
    for (const dom::element line : lines) {
        std::string_view words;
        if (line.get(words) != simdjson::SUCCESS || ++taken > kMostLogLines)
            continue;
        head.diagnostics.push_back(
            {.name = "profiler_log",
             .severity = key == "ERROR" ? Severity::DataLoss : Severity::Info,
             .count = 1,
             .text = fmt::format("the profiler logged ({}): {}", key, words.substr(0, kMostLogLine))});
    }
}

}  // namespace

void KinetoHead::take(std::string_view key, std::string_view json, bool cut)
{
    static constexpr std::array<std::string_view, 4> kOnlyKineto{"deviceProperties", "schemaVersion", "distributedInfo",
                                                                 "baseTimeNanoseconds"};
    kineto = kineto || std::find(kOnlyKineto.begin(), kOnlyKineto.end(), key) != kOnlyKineto.end();
    const bool kept = std::find(kKept.begin(), kKept.end(), key) != kKept.end();
    const bool read = kept || key == "deviceProperties" || key == "host_name" || key == "ERROR" || key == "WARNING";
    if (!read)
        return;
    dom::parser parser;
    dom::element element;
    if (cut || (parser.parse(simdjson::padded_string(json)).get(element) != simdjson::SUCCESS &&
                parser.parse(simdjson::padded_string(mendedJson(json))).get(element) != simdjson::SUCCESS)) {
        diagnostics.push_back({.name = "unreadable_member",
                               .severity = Severity::DataLoss,
                               .count = 1,
                               .text = fmt::format("'{}' could not be read", key)});
        return;
    }
    std::string_view words;
    if (key == "deviceProperties")
        takeDevices(*this, element);
    else if (key == "distributedInfo")
        takeDistributed(*this, element);
    else if (key == "ERROR" || key == "WARNING")
        takeLog(*this, key, element);
    else if (key == "host_name")
        host = element.get(words) == simdjson::SUCCESS ? std::string(words) : std::string();
    else
        meta["kineto." + std::string(key)] =
            element.get(words) == simdjson::SUCCESS ? std::string(words) : simdjson::minify(element);
    if (key == "baseTimeNanoseconds") {
        const std::int64_t base = RawValue{json}.signedNumber();
        baseNs = base > 0 && base < kMostBase ? base : 0;
    }
}

std::size_t TopLevel::feed(std::string_view text)
{
    std::size_t used = 0;
    while (used < text.size() && m_state != State::Events)
        step(text[used++]);
    return used;
}

void TopLevel::leaveEvents() { m_state = m_bareArray ? State::Done : State::Between; }

void TopLevel::step(char c)
{
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    switch (m_state) {
    case State::Start:
        if (!blank && static_cast<unsigned char>(c) < 0x80)  // a byte order mark comes first in some files
            begin(c);
        return;
    case State::Between:
        if (c == '"') {
            m_key.clear();
            m_escaped = false;
            m_state = State::Key;
        } else if (c == '}') {
            m_state = State::Done;
        }
        return;
    case State::Key:
        if (c == '"' && !m_escaped)
            m_state = State::Colon;
        else if (m_key.size() < 256)
            m_key += c;
        m_escaped = c == '\\' && !m_escaped;
        return;
    case State::Colon:
        if (c == ':') {
            m_state = State::Value;
            if (m_head.keys.size() < kMostKeys)
                m_head.keys.push_back(m_key);
            m_value.clear();
            m_depth = 0;
            m_inString = m_escaped = m_cut = false;
        }
        return;
    case State::Value:
        if (!blank || !m_value.empty())
            value(c);
        return;
    case State::Events:
    case State::Done: return;
    }
}

void TopLevel::begin(char c)
{
    m_first = c;
    m_bareArray = c == '[';
    m_state = c == '[' ? State::Events : c == '{' ? State::Between : State::Done;
}

void TopLevel::value(char c)
{
    if (m_value.empty() && c == '[' && m_key == "traceEvents") {
        m_state = State::Events;
        return;
    }
    if (!m_inString && m_depth == 0 && (c == ',' || c == '}')) {
        endValue();
        m_state = c == ',' ? State::Between : State::Done;
        return;
    }
    if (m_value.size() < kMostValue)
        m_value += c;
    else
        m_cut = true;
    if (m_inString) {
        m_inString = c != '"' || m_escaped;
        m_escaped = c == '\\' && !m_escaped;
    } else if (c == '"') {
        m_inString = true;
    } else if (c == '{' || c == '[') {
        ++m_depth;
    } else if (c == '}' || c == ']') {
        --m_depth;
    }
}

void TopLevel::endValue()
{
    while (!m_value.empty() && static_cast<unsigned char>(m_value.back()) <= ' ')
        m_value.pop_back();
    if (!m_value.empty())
        m_head.take(m_key, m_value, m_cut);
}

}  // namespace fp8scope::import

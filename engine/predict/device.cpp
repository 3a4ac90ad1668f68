// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/device.h"

#include "collector/trace/error.h"
#include "engine/plan/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fp8scope::predict {
namespace {

double peakOf(const DeviceSpec& spec, GemmKind kind)
{
    switch (kind) {
    case GemmKind::Bf16: return spec.peak16;
    case GemmKind::Mxfp8: return spec.peakMxfp8;
    default: return spec.peakFp8;
    }
}

/// A relative of the fitted device: fractions hold, rates inside the SM go with the clock, rates of the whole chip with
/// clock and SMs.
GemmConstants scaledTo(const DeviceSpec& to, const DeviceSpec& from, GemmConstants c)
{
    const double clock = to.boostMhz > 0 && from.boostMhz > 0 ? to.boostMhz / from.boostMhz : 1;
    c.smGBs *= clock;
    c.l2GBs *= clock * to.sms / from.sms;
    c.reductionGBs *= clock * to.sms / from.sms;
    return c;
}

}  // namespace

bool DeviceModel::supports(GemmKind kind) const
{
    return gemm[static_cast<std::size_t>(kind)].has_value() && peakOf(spec, kind) > 0;
}

const GemmConstants& DeviceModel::constantsOf(GemmKind kind) const
{
    if (!supports(kind))
        throw Error(fmt::format("{} has no {} GEMMs", spec.name, toString(kind)), spec.id,
                    "`fp8scope devices` shows what each device can do");
    return *gemm[static_cast<std::size_t>(kind)];
}

const QuantizerConstants& DeviceModel::constantsOf(QuantizerKind kind) const
{
    const auto& constants = quantizer[static_cast<std::size_t>(kind)];
    if (!constants)
        throw Error(fmt::format("nothing is known of {} quantizers on {}", toString(kind), spec.name), spec.id,
                    "`fp8scope devices` shows what each device can do");
    return *constants;
}

GemmMachine DeviceModel::machine(GemmKind kind) const
{
    return {.sms = spec.sms,
            .peakFlops = peakOf(spec, kind),
            .bandwidth = spec.bandwidth,
            .l2Bytes = spec.l2Bytes,
            .operandBytes = kind == GemmKind::Bf16    ? 2.0
                            : kind == GemmKind::Mxfp8 ? 1 + 1.0 / 32
                                                      : 1.0};
}

DeviceModel* DeviceTable::lookUp(std::string_view id)
{
    const auto found = std::ranges::find_if(m_devices, [&](const DeviceModel& d) { return d.spec.id == id; });
    return found == m_devices.end() ? nullptr : &*found;
}

const DeviceModel& DeviceTable::find(std::string_view id) const
{
    std::vector<std::string> ids;
    for (const DeviceModel& device : m_devices) {
        if (device.spec.id == id)
            return device;
        ids.push_back(device.spec.id);
    }
    const auto near = plan::nearest(id, ids);
    throw Error(fmt::format("there is no device '{}'", id), "--device",
                near ? fmt::format("did you mean '{}'? `fp8scope devices` lists them", *near)
                     : fmt::format("devices are {}", fmt::join(ids, ", ")));
}

void DeviceTable::resolve()
{
    for (DeviceModel& device : m_devices) {
        const DeviceModel* from = device.spec.constantsFrom.empty() ? nullptr : lookUp(device.spec.constantsFrom);
        if (from == nullptr)
            continue;
        for (std::size_t kind = 0; kind < device.gemm.size(); ++kind) {
            if (!device.gemm[kind] && from->gemm[kind]) {
                device.gemm[kind] = scaledTo(device.spec, from->spec, *from->gemm[kind]);
                device.extrapolated = true;
            }
        }
        for (std::size_t kind = 0; kind < device.quantizer.size(); ++kind) {
            if (!device.quantizer[kind])
                device.quantizer[kind] = from->quantizer[kind];
        }
        if (device.extrapolated)
            device.provenance = fmt::format("extrapolated from {} by its specification", from->spec.name);
    }
}

}  // namespace fp8scope::predict

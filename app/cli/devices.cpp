// SPDX-License-Identifier: Apache-2.0
// `fp8scope devices`: what can be predicted for, from which figures, and how well.
#include "app/cli/command.h"
#include "app/cli/device_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace fp8scope::cli {
namespace {

struct DevicesOptions {
    std::string id;
    std::vector<std::filesystem::path> files;
    Format format = Format::Table;
};

/// A figure of the specification; one that no stored source confirms has a question mark.
Cell specCell(const predict::DeviceSpec& spec, std::string_view key, double value)
{
    if (value <= 0)
        return {"-", Json()};
    const bool unverified = std::ranges::find(spec.unverified, key) != spec.unverified.end();
    return {fmt::format("{:.6g}{}", value, unverified ? "?" : ""), value};
}

Table listOf(const predict::DeviceTable& devices)
{
    Table table;
    table.headline = "devices that `fp8scope predict` knows; ? marks a figure that no stored source confirms";
    table.columns = {
        {"device", "id", false},      {"sm", "compute_capability"}, {"SMs", "sms"},
        {"bf16 TF/s", "bf16_tflops"}, {"fp8 TF/s", "fp8_tflops"},   {"GB/s", "memory_gbs"},
        {"L2 MB", "l2_mb"},           {"memory GB", "memory_gb"},   {"constants", "constants", false, true}};
    for (const predict::DeviceModel& d : devices.devices()) {
        table.rows.push_back(
            {textCell(d.spec.id),
             {d.spec.isCpu() ? "cpu" : std::to_string(d.spec.computeCapability), d.spec.computeCapability},
             specCell(d.spec, "sms", d.spec.sms),
             specCell(d.spec, "bf16_tflops", d.spec.peak16 * 1e-12),
             specCell(d.spec, "fp8_tflops", d.spec.peakFp8 * 1e-12),
             specCell(d.spec, "memory_gbs", d.spec.bandwidth * 1e-9),
             specCell(d.spec, "l2_mb", d.spec.l2Bytes * 1e-6),
             specCell(d.spec, "memory_gb", d.spec.memoryBytes * 1e-9),
             textCell(d.extrapolated ? "from " + d.spec.constantsFrom : "own")});
    }
    table.notes = {"", "`fp8scope devices ID` shows sources and prediction errors. Your own devices: TOML files in " +
                           userDeviceDirectory().string() + ", or --device-file."};
    return table;
}

Json errorsOf(const predict::DeviceModel& device)
{
    Json errors = Json::array();
    for (const predict::FitError& e : device.errors)
        errors.push_back({{"what", e.what},
                          {"size", e.sizeClass},
                          {"median", e.median},
                          {"p90", e.p90},
                          {"rows", e.rows},
                          {"spread_median", e.noiseMedian},
                          {"spread_p90", e.noiseP90}});
    return errors;
}

Json jsonOf(const predict::DeviceTable& devices)
{
    Json document{{"schema_version", kJsonSchema}, {"devices", Json::array()}};
    for (const predict::DeviceModel& d : devices.devices())
        document["devices"].push_back({{"id", d.spec.id},
                                       {"name", d.spec.name},
                                       {"compute_capability", d.spec.computeCapability},
                                       {"sms", d.spec.sms},
                                       {"bf16_flops", d.spec.peak16},
                                       {"fp8_flops", d.spec.peakFp8},
                                       {"memory_bytes_per_second", d.spec.bandwidth},
                                       {"l2_bytes", d.spec.l2Bytes},
                                       {"memory_bytes", d.spec.memoryBytes},
                                       {"source", d.spec.source},
                                       {"unverified", d.spec.unverified},
                                       {"provenance", d.provenance},
                                       {"extrapolated", d.extrapolated},
                                       {"errors", errorsOf(d)}});
    return document;
}

void printOne(const predict::DeviceModel& device, Format format)
{
    Table table;
    table.headline = fmt::format("{}: constants {}", device.spec.name, device.provenance);
    table.columns = {{"GEMMs", "what", false},    {"size", "size", false},    {"rows", "rows"},
                     {"median error", "median"},  {"90th percentile", "p90"}, {"spread", "spread_median"},
                     {"spread p90", "spread_p90"}};
    for (const predict::FitError& e : device.errors) {
        const bool spread = e.noiseP90 > 0;
        table.rows.push_back({textCell(e.what), textCell(e.sizeClass), countCell(static_cast<std::uint64_t>(e.rows)),
                              shareCell(e.median), shareCell(e.p90),
                              spread ? shareCell(e.noiseMedian) : Cell{"-", Json()},
                              spread ? shareCell(e.noiseP90) : Cell{"-", Json()}});
    }
    table.notes = {"", "Sources: " + device.spec.source + "."};
    if (!device.spec.unverified.empty())
        table.notes.push_back(
            fmt::format("Not confirmed by a stored source: {}.", fmt::join(device.spec.unverified, ", ")));
    if (device.errors.empty())
        table.notes.push_back("No measurements of this device were compared.");
    else
        table.notes.push_back(
            "Errors are on (n, k) pairs that the fit had not seen, m, n, k from 128. Spread is half the "
            "difference between frameworks that measured the same shape: no prediction can be nearer to "
            "both.");
    emitResult(format, table, [&] { return errorsOf(device); });
}

}  // namespace

void addDevicesCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<DevicesOptions>();
    CLI::App* command = app.add_subcommand("devices", "The devices that can be predicted for, and how well");
    command->add_option("ID", options->id, "Show one device: sources and prediction errors")->option_text(" ");
    command->add_option("--device-file", options->files, "Further devices (TOML)")->option_text("FILE");
    addFormatOption(*command, options->format);
    command->callback([options] {
        const predict::DeviceTable devices = allDevices(options->files);
        if (options->id.empty())
            emitResult(options->format, listOf(devices), [&] { return jsonOf(devices); });
        else
            printOne(devices.find(options->id), options->format);
    });
}

}  // namespace fp8scope::cli

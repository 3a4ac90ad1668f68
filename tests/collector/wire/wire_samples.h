// SPDX-License-Identifier: Apache-2.0
// A stream that holds every kind of record once, for tests that take it apart.
#pragma once

#include "collector/wire/encoder.h"

#include <vector>

namespace fp8scope::test {

inline wire::Hello sampleHello()
{
    return {.token = "secret", .pid = 4711, .processName = "worker", .host = "here", .rank = 3};
}

inline wire::RunBegin sampleRun()
{
    return {
        .mode = "fp8", .configToml = "batch = 4\n", .planText = "the plan", .tool = "fp8scope 0.1", .startNs = 1'000};
}

inline std::vector<wire::Slice> sampleSlices(wire::LocalName name, wire::LocalOp op, wire::LocalLaunchShape shape)
{
    return {{.startNs = 2'000, .durNs = 300, .name = name, .op = op},
            {.startNs = 1'500, .durNs = 0, .name = name, .correlation = ~std::uint64_t{0}, .launchShape = shape},
            {.startNs = -5, .durNs = 7, .name = name, .bytes = 1U << 20}};
}

inline std::vector<std::byte> sampleStream()
{
    wire::Encoder encoder;
    encoder.append(sampleHello());
    const auto device = encoder.append(wire::Device{.name = "cpu", .kind = "cpu", .arch = "avx2", .units = 2});
    const auto name = encoder.append(wire::Name{.text = "gemm", .kind = NameKind::Op, .role = Role::Gemm});
    const auto shape = encoder.append(wire::LaunchShape{.grid = {1, 2, 3}, .block = {128, 1, 1}, .registers = 64});
    encoder.append(sampleRun());
    const auto track = encoder.append(wire::Track{.name = "queue", .device = device});
    const auto layer = encoder.append(wire::Layer{.name = "layer0", .inFeatures = 8, .outFeatures = 16});
    const auto op = encoder.append(wire::Op{.layer = layer, .name = "layer0.fwd.gemm", .role = Role::Gemm, .m = 4});
    const auto tensor = encoder.append(wire::Tensor{.layer = layer, .name = "layer0.x", .format = "e4m3"});
    encoder.append(wire::MemoryClass{.name = "weights", .bytes = 256});
    encoder.append(track, sampleSlices(name, op, shape));
    encoder.append(wire::TensorStat{.tensor = tensor, .step = 1, .amax = 2.5, .count = 32, .saturated = 1});
    encoder.append(wire::ExponentHistogram{.tensor = tensor, .step = 1, .firstExponent = -133, .counts = {7, 0, 25}});
    encoder.append(wire::StepValue{.step = 1, .name = "gradient_norm", .value = 1.25});
    encoder.append(wire::TensorError{.layer = layer, .step = 1, .tensor = "layer0.y", .relativeError = 0.03});
    encoder.append(wire::Sample{.track = track, .timeNs = 1'700, .value = 0.5});
    encoder.append(wire::StepEnd{.index = 1, .startNs = 1'500, .durNs = 800, .warmup = true, .loss = 0.25});
    encoder.append(wire::Diagnostic{.name = "odd", .severity = Severity::DataLoss, .count = 3, .text = "lost three"});
    encoder.append(wire::RunEnd{.endNs = 2'300, .complete = false, .note = "stopped after step 1"});
    encoder.append(wire::Bye{});
    return {encoder.bytes().begin(), encoder.bytes().end()};
}

}  // namespace fp8scope::test

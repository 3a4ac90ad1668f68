// SPDX-License-Identifier: Apache-2.0
#include "tests/app/analysis/planted_run.h"

#include <fmt/format.h>

#include <cmath>

namespace fp8scope::test {
namespace {

struct PlantedOp {
    TraceOp op;
    std::int64_t durNs = 0;
    Precision precision = Precision::Unknown;
};

class OpList {
public:
    OpList(const PlantedModel& model, const PlantedMode& mode, const std::vector<LayerId>& layers)
        : m_model(model), m_mode(mode), m_layers(layers)
    {
        const int count = static_cast<int>(model.widths.size()) - 1;
        for (int l = 0; l < count; ++l)
            forward(l, l + 1 < count);
        pass("loss", -1, Phase::Other, Role::Loss, model.batch, model.widths.back(), 8);
        for (int l = count - 1; l >= 0; --l)
            backward(l);
        for (int l = 0; l < count; ++l)
            optimizer(l);
    }

    std::vector<PlantedOp> ops;

private:
    [[nodiscard]] std::int64_t in(int l) const { return m_model.widths[static_cast<std::size_t>(l)]; }
    [[nodiscard]] std::int64_t out(int l) const { return m_model.widths[static_cast<std::size_t>(l) + 1]; }
    [[nodiscard]] bool inFp8(int l) const
    {
        return m_mode.fp8 && in(l) % 16 == 0 && out(l) % 16 == 0 && m_model.batch % 16 == 0;
    }

    TraceOp op(const std::string& what, int l, Phase phase, Role role)
    {
        TraceOp op;
        op.layer = l < 0 ? LayerId::none() : m_layers[static_cast<std::size_t>(l)];
        op.name = l < 0 ? what : fmt::format("layer{}.{}.{}", l, toString(phase), what);
        op.phase = phase;
        op.role = role;
        return op;
    }

    /// A pass over an m x n matrix that moves `bytes` an element.
    TraceOp& pass(const std::string& what, int l, Phase phase, Role role, std::int64_t m, std::int64_t n, int bytes)
    {
        TraceOp o = op(what, l, phase, role);
        o.m = m;
        o.n = n;
        o.bytes = static_cast<std::uint64_t>(m * n * bytes);
        const auto durNs = std::llround(static_cast<double>(o.bytes) / m_model.bytesPerSecond * 1e9);
        ops.push_back(
            {std::move(o), std::max<std::int64_t>(durNs, m * n == 1 ? m_model.scalarNs : 1), Precision::Unknown});
        return ops.back().op;
    }

    void gemm(int l, Phase phase, std::int64_t m, std::int64_t n, std::int64_t k)
    {
        TraceOp o = op("gemm", l, phase, Role::Gemm);
        o.m = m;
        o.n = n;
        o.k = k;
        o.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
        o.aType = o.bType = inFp8(l) ? "e4m3" : "bf16";
        o.dType = "bf16";
        if (phase == Phase::Forward && m_mode.biasEpilogue) {
            o.epilogue = "bias";
            o.fused.insert(Role::Bias);
        }
        const double rate = m_model.gemm16FlopsPerSecond * (inFp8(l) ? m_model.fp8Ratio : 1);
        const auto durNs = std::llround(o.flops / rate * 1e9);
        ops.push_back({std::move(o), durNs, inFp8(l) ? Precision::Fp8 : Precision::Bf16});
    }

    /// `transposed`: this use needs the transpose; `first`: the first use of the operand in a step.
    void quantize(int l, Phase phase, const std::string& x, std::int64_t m, std::int64_t n, bool transposed, bool first)
    {
        if (m_mode.castTranspose && !first)
            return;
        const bool amaxInActivation = m_mode.actCast && x == "x" && l > 0;
        const auto scalar = [&](const std::string& what) { pass(what + "_" + x, l, phase, Role::Scale, 1, 1, 8); };
        if (!m_mode.castChain) {
            pass("abs_" + x, l, phase, Role::Amax, m, n, 4);
            pass("max_" + x, l, phase, Role::Amax, m, n, 2);
            for (const char* what : {"to_f64", "clamp_min", "reciprocal", "mul", "to_f32"})
                scalar(what);
            pass("to_f32_m_" + x, l, phase, Role::Cast, m, n, 6);
            pass("mul_scale_" + x, l, phase, Role::Cast, m, n, 8);
            pass("clamp_" + x, l, phase, Role::Cast, m, n, 8);
            pass("to_fp8_" + x, l, phase, Role::Cast, m, n, 5);
        } else {
            if (!amaxInActivation)
                pass("amax_" + x, l, phase, Role::Amax, m, n, 2);
            scalar("scale");
            if (m_mode.castTranspose) {
                TraceOp& cast = pass("cast_transpose_" + x, l, phase, Role::CastTranspose, m, n, 4);
                if (m_mode.dbiasInCast && x == "dy")
                    cast.fused.insert(Role::BiasGrad);
            } else {
                pass("cast_" + x, l, phase, Role::Cast, m, n, 3);
            }
        }
        if (transposed && !m_mode.castTranspose)
            pass("transpose_" + x, l, phase, Role::Transpose, m, n, 2);
    }

    void forward(int l, bool activated)
    {
        const std::int64_t batch = m_model.batch;
        if (inFp8(l)) {
            quantize(l, Phase::Forward, "x", batch, in(l), false, true);
            quantize(l, Phase::Forward, "w", out(l), in(l), false, true);
        }
        gemm(l, Phase::Forward, batch, out(l), in(l));
        if (!m_mode.biasEpilogue)
            pass("bias_add", l, Phase::Forward, Role::Bias, batch, out(l), 4);
        if (!activated)
            return;
        TraceOp& act = pass("act", l, Phase::Forward, Role::Activation, batch, out(l), 4);
        if (m_mode.fp8 && m_mode.actCast)
            act.fused.insert(Role::Amax);
    }

    void backward(int l)
    {
        const std::int64_t batch = m_model.batch;
        if (l > 0) {
            if (inFp8(l)) {
                quantize(l, Phase::Dgrad, "dy", batch, out(l), false, true);
                quantize(l, Phase::Dgrad, "w", out(l), in(l), true, false);
            }
            gemm(l, Phase::Dgrad, batch, in(l), out(l));
        }
        if (inFp8(l)) {
            quantize(l, Phase::Wgrad, "dy", batch, out(l), true, l == 0);
            quantize(l, Phase::Wgrad, "x", batch, in(l), true, false);
        }
        gemm(l, Phase::Wgrad, out(l), in(l), batch);
        if (!(inFp8(l) && m_mode.dbiasInCast))
            pass("bias_grad", l, Phase::Wgrad, Role::BiasGrad, batch, out(l), 2);
        if (l > 0)
            pass("act_backward", l - 1, Phase::Dgrad, Role::ActivationGrad, batch, in(l), 6);
    }

    void optimizer(int l)
    {
        pass("update", l, Phase::Optimizer, Role::Optimizer, out(l), in(l), 28);
        if (m_model.optimizerNs > 0)
            ops.back().durNs = m_model.optimizerNs;
    }

    const PlantedModel& m_model;
    const PlantedMode& m_mode;
    const std::vector<LayerId>& m_layers;
};

std::vector<LayerId> addLayers(TraceBuilder& builder, const PlantedModel& model, const PlantedMode& mode)
{
    std::vector<LayerId> ids;
    for (std::size_t l = 0; l + 1 < model.widths.size(); ++l) {
        const std::int64_t in = model.widths[l];
        const std::int64_t out = model.widths[l + 1];
        const bool fits = in % 16 == 0 && out % 16 == 0 && model.batch % 16 == 0;
        const std::string name = fmt::format("layer{}", l);
        builder.layer(name, in, out, mode.fp8 && fits ? "fp8" : "bf16", mode.fp8 && !fits ? "not multiples of 16" : "");
        ids.push_back(builder.layerId(name));
    }
    return ids;
}

double stretchOf(int step, double noise)
{
    if (step % 4 == 1)
        return 1 + noise;
    return step % 4 == 2 ? 1 - noise : 1;
}

}  // namespace

PlantedMode bf16Mode() { return {}; }

PlantedMode plainFp8Mode() { return {.name = "fp8", .fp8 = true, .biasEpilogue = false}; }

PlantedMode fusedFp8Mode()
{
    return {.name = "fp8-fused",
            .fp8 = true,
            .castChain = true,
            .castTranspose = true,
            .dbiasInCast = true,
            .actCast = true};
}

Device h100()
{
    return {.name = "NVIDIA H100",
            .kind = "gpu",
            .arch = "sm_90",
            .units = 132,
            .peakFp8 = 1979e12,
            .peak16 = 989.5e12,
            .hasFp8 = true};
}

Device cpuWithoutFp8() { return {.name = "some CPU", .kind = "cpu", .arch = "avx2", .units = 2, .hasFp8 = false}; }

void addRun(TraceBuilder& builder, const PlantedModel& model, const PlantedMode& mode, Origin origin)
{
    const Trace before = builder.build();
    std::int64_t now = before.timeRange().endNs;
    builder.run(mode.name, origin);
    const std::vector<LayerId> layers = addLayers(builder, model, mode);
    const OpList list(model, mode, layers);
    builder.track("queue");
    for (int s = 0; s < model.steps; ++s) {
        const std::int64_t start = now;
        now += model.gapNs;
        for (const PlantedOp& op : list.ops) {
            const std::int64_t durNs = std::llround(static_cast<double>(op.durNs) * stretchOf(s, mode.noise));
            builder.opSlice(now, durNs, op.op, op.precision);
            now += durNs;
        }
        builder.step(static_cast<std::uint32_t>(s), start, now - start, 1.0 / (s + 1));
    }
}

Trace plantedTrace(const Device& device, const PlantedModel& model, const std::vector<PlantedMode>& modes)
{
    TraceBuilder builder;
    builder.device(device);
    for (const PlantedMode& mode : modes)
        addRun(builder, model, mode, device.kind == "cpu" ? Origin::MeasuredCpu : Origin::MeasuredGpu);
    return builder.build();
}

}  // namespace fp8scope::test

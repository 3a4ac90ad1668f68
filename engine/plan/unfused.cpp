// SPDX-License-Identifier: Apache-2.0
// Emits the ops of one training step in order: batch, forward, loss, backward (dgrad before wgrad, last layer first),
// optimizer, delayed scale update.
#include "engine/plan/unfused.h"

#include "engine/plan/gemm_calls.h"
#include "engine/plan/layer_filter.h"
#include "engine/plan/quantizer.h"

#include <fmt/format.h>

namespace fp8scope::plan {
namespace {

/// The tensors of one layer: y = act(z), z = x W^T + b; dy is the gradient of z.
struct LayerTensors {
    TensorId x, z, dy;
    TensorId w, dw, b, db;
    std::vector<TensorId> updated;  ///< outputs of the layer's OptimizerStep
};

class StepBuilder {
public:
    StepBuilder(StepPlan& plan, PlanWriter& writer) : m_plan(plan), m_writer(writer), m_quantizer(makeQuantizer(writer))
    {}

    void build()
    {
        m_layers.resize(m_plan.layers.size());
        reserve();
        for (int l = 0; l < layerCount(); ++l)
            addParameters(l);
        loadBatch();
        for (int l = 0; l < layerCount(); ++l)
            forward(l);
        loss();
        for (int l = layerCount() - 1; l >= 0; --l)
            backward(l);
        for (int l = 0; l < layerCount(); ++l)
            optimizerStep(l);
        m_quantizer->finishStep();
    }

private:
    [[nodiscard]] int layerCount() const { return static_cast<int>(m_plan.layers.size()); }
    [[nodiscard]] LayerPlan& layer(int l) { return m_plan.layers[static_cast<std::size_t>(l)]; }
    [[nodiscard]] LayerTensors& tensors(int l) { return m_layers[static_cast<std::size_t>(l)]; }
    [[nodiscard]] bool fp8(int l) { return layer(l).fp8; }
    [[nodiscard]] bool activated(int l) const
    {
        return l + 1 < layerCount() && m_plan.config.activation != Activation::None;
    }

    [[nodiscard]] std::string opName(int l, Phase phase, std::string_view what)
    {
        return joined({layer(l).name, ".", phaseWord(phase), ".", what});
    }

    /// Room for every op and tensor at once: moving tens of thousands of them as they grow doubles the time to build.
    void reserve()
    {
        constexpr std::size_t kOpsOfFp8Layer = 84, kOpsOfLayer = 9, kTensorsOfFp8Layer = 92, kTensorsOfLayer = 18;
        const std::size_t fp8Layers = m_plan.quantized.size() / 3, others = m_plan.layers.size() - fp8Layers;
        m_plan.ops.reserve(fp8Layers * kOpsOfFp8Layer + others * kOpsOfLayer + 3);
        m_plan.tensors.reserve(m_plan.tensors.size() + fp8Layers * kTensorsOfFp8Layer + others * kTensorsOfLayer + 3);
    }

    TensorId matrix(int l, std::string_view what, DType type, std::int64_t rows, std::int64_t cols, TensorClass cls)
    {
        return m_writer.add({.name = joined({layer(l).name, ".", what}),
                             .type = type,
                             .rows = rows,
                             .cols = cols,
                             .cls = cls,
                             .layer = l,
                             .persistent = cls == TensorClass::Weight || cls == TensorClass::Master ||
                                           cls == TensorClass::OptimizerState});
    }

    TensorId addParameter(int l, const std::string& name, std::int64_t rows, std::int64_t cols)
    {
        auto& updated = tensors(l).updated;
        const TensorId parameter = matrix(l, name, DType::Bf16, rows, cols, TensorClass::Weight);
        updated.push_back(parameter);
        updated.push_back(matrix(l, name + ".master", DType::F32, rows, cols, TensorClass::Master));
        const bool adam = m_plan.config.optimizer.kind == OptimizerKind::Adam;
        for (const char* state : adam ? std::vector{"mean", "variance"} : std::vector{"momentum"})
            updated.push_back(matrix(l, name + '.' + state, DType::F32, rows, cols, TensorClass::OptimizerState));
        return parameter;
    }

    void addParameters(int l)
    {
        tensors(l).w = layer(l).weight = addParameter(l, "w", layer(l).outFeatures, layer(l).inFeatures);
        if (m_plan.config.bias)
            tensors(l).b = layer(l).bias = addParameter(l, "b", 1, layer(l).outFeatures);
        tensors(l).updated.push_back(matrix(l, "step", DType::F32, 1, 1, TensorClass::OptimizerState));
    }

    void loadBatch()
    {
        const std::int64_t batch = m_plan.config.batch;
        const bool classes = m_plan.config.loss == Loss::SoftmaxCrossEntropy;
        m_plan.input = matrix(0, "x", DType::Bf16, batch, layer(0).inFeatures, TensorClass::Input);
        m_plan.target = m_writer.add({.name = "target",
                                      .type = classes ? DType::I32 : DType::F32,
                                      .rows = batch,
                                      .cols = classes ? 1 : layer(layerCount() - 1).outFeatures,
                                      .cls = TensorClass::Input});
        m_writer.append(OpKind::LoadBatch, "load_batch", Phase::Other, -1, {}, {m_plan.input, m_plan.target});
        tensors(0).x = m_plan.input;
    }

    void forward(int l)
    {
        LayerTensors& t = tensors(l);
        t.z = matrix(l, "z", DType::Bf16, m_plan.config.batch, layer(l).outFeatures, TensorClass::Activation);
        if (fp8(l))
            m_quantizer->emitGemm({l, Phase::Forward, t.x, t.w, t.z});
        else
            emitGemm(l, Phase::Forward, gemmTn(m_plan, {t.x, {}}, {t.w, {}}, t.z));
        if (t.b.valid())
            m_writer.append(OpKind::BiasAdd, opName(l, Phase::Forward, "bias_add"), Phase::Forward, l, {t.z, t.b},
                            {t.z});
        if (l + 1 == layerCount()) {
            m_plan.prediction = t.z;
            return;
        }
        tensors(l + 1).x = t.z;
        if (!activated(l))
            return;
        const TensorId a =
            matrix(l + 1, "x", DType::Bf16, m_plan.config.batch, layer(l).outFeatures, TensorClass::Activation);
        m_writer.append(OpKind::ActForward, opName(l, Phase::Forward, "act"), Phase::Forward, l, {t.z}, {a});
        tensors(l + 1).x = a;
    }

    void loss()
    {
        LayerTensors& last = tensors(layerCount() - 1);
        last.dy = gradient(layerCount() - 1, "dy", m_plan.config.batch, layer(layerCount() - 1).outFeatures);
        m_plan.loss = m_writer.add({.name = "loss", .type = DType::F32, .cls = TensorClass::Workspace});
        m_writer.append(OpKind::Loss, "loss", Phase::Other, -1, {m_plan.prediction, m_plan.target},
                        {last.dy, m_plan.loss});
    }

    TensorId gradient(int l, std::string_view what, std::int64_t rows, std::int64_t cols)
    {
        return matrix(l, what, DType::Bf16, rows, cols, TensorClass::Gradient);
    }

    void backward(int l)
    {
        if (l > 0)
            inputGradient(l);
        else if (m_plan.config.alwaysDgrad && fp8(0))
            m_quantizer->emitGemm({0, Phase::Dgrad, tensors(0).dy, tensors(0).w,
                                   gradient(0, "dx", m_plan.config.batch, layer(0).inFeatures)});
        LayerTensors& t = tensors(l);
        t.dw =
            matrix(l, "dw", m_plan.config.wgradType, layer(l).outFeatures, layer(l).inFeatures, TensorClass::Gradient);
        if (fp8(l))
            m_quantizer->emitGemm({l, Phase::Wgrad, t.dy, t.x, t.dw});
        else
            emitGemm(l, Phase::Wgrad, gemmNt(m_plan, {t.dy, {}}, {t.x, {}}, t.dw));
        if (t.b.valid()) {
            t.db = matrix(l, "db", DType::F32, 1, layer(l).outFeatures, TensorClass::Gradient);
            m_writer.append(OpKind::BiasGrad, opName(l, Phase::Wgrad, "bias_grad"), Phase::Wgrad, l, {t.dy}, {t.db});
        }
        if (l > 0 && activated(l - 1)) {
            LayerTensors& previous = tensors(l - 1);
            const TensorId da = previous.dy;
            previous.dy = gradient(l - 1, "dy", m_plan.config.batch, layer(l - 1).outFeatures);
            m_writer.append(OpKind::ActBackward, opName(l - 1, Phase::Dgrad, "act_grad"), Phase::Dgrad, l - 1,
                            {da, previous.z}, {previous.dy});
        }
    }

    /// The gradient of the layer's input, which is the previous layer's dy once its activation is undone.
    void inputGradient(int l)
    {
        const char* name = activated(l - 1) ? "da" : "dy";
        const LayerTensors& t = tensors(l);
        const TensorId dx = tensors(l - 1).dy = gradient(l - 1, name, m_plan.config.batch, layer(l).inFeatures);
        if (fp8(l))
            m_quantizer->emitGemm({l, Phase::Dgrad, t.dy, t.w, dx});
        else
            emitGemm(l, Phase::Dgrad, gemmNn(m_plan, {t.dy, {}}, {t.w, {}}, dx));
    }

    void emitGemm(int l, Phase phase, const GemmCall& call)
    {
        m_writer.append(OpKind::Gemm, opName(l, phase, "gemm"), phase, l, gemmInputs(call), {call.dTensor}).gemm = call;
    }

    void optimizerStep(int l)
    {
        LayerTensors& t = tensors(l);
        std::vector<TensorId> gradients{t.dw};
        if (t.db.valid())
            gradients.push_back(t.db);
        m_writer.append(OpKind::OptimizerStep, joined({layer(l).name, ".optimizer"}), Phase::Optimizer, l,
                        std::move(gradients), std::move(t.updated));
    }

    StepPlan& m_plan;
    PlanWriter& m_writer;
    std::unique_ptr<Quantizer> m_quantizer;
    std::vector<LayerTensors> m_layers;
};

}  // namespace

std::string fp8Obstacle(std::int64_t inFeatures, std::int64_t outFeatures, std::int64_t rows, RecipeKind recipe)
{
    // Bytes of alignment over one byte an element, or a whole block of mxfp8; the batch is wgrad's k.
    const std::int64_t multiple = recipe == RecipeKind::Mxfp8 ? 32 : 16;
    if (outFeatures % multiple != 0)
        return fmt::format("out features {} is not a multiple of {}", outFeatures, multiple);
    if (inFeatures % multiple != 0)
        return fmt::format("in features {} is not a multiple of {}", inFeatures, multiple);
    if (rows % multiple != 0)
        return fmt::format("batch {} is not a multiple of {}", rows, multiple);
    return {};
}

namespace {

std::string bf16Reason(const MlpConfig& config, std::size_t layer)
{
    std::string reason =
        fp8Obstacle(config.widths[layer], config.widths[layer + 1], config.microBatchRows(), config.recipe.kind);
    return reason.empty() ? filterReason(config, layer) : reason;
}

}  // namespace

StepPlan buildUnfused(const MlpConfig& config, const ModeSettings& settings)
{
    StepPlan plan;
    plan.config = config;
    plan.config.batch = config.microBatchRows();  // what the builder and the quantizer see
    plan.settings = settings;
    plan.recipe = resolved(config.recipe);
    for (std::size_t l = 0; l + 1 < config.widths.size(); ++l) {
        LayerPlan& layer = plan.layers.emplace_back();
        layer.name = layerName(l);
        layer.inFeatures = config.widths[l];
        layer.outFeatures = config.widths[l + 1];
        if (settings.fp8)
            layer.reason = bf16Reason(config, l);
        layer.fp8 = settings.fp8 && layer.reason.empty();
    }
    PlanWriter writer(plan);
    StepBuilder(plan, writer).build();
    plan.config.batch = config.batch;
    return plan;
}

}  // namespace fp8scope::plan

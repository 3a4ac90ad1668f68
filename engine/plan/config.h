// SPDX-License-Identifier: Apache-2.0
// What a training run is asked to do: the model, the data, the recipe, the fusions. Read from TOML or options.
#pragma once

#include "engine/plan/recipe.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::plan {

enum class Activation : std::uint8_t { None, Relu, Gelu };
enum class Loss : std::uint8_t { MeanSquaredError, SoftmaxCrossEntropy };
enum class OptimizerKind : std::uint8_t { Sgd, Adam };

struct OptimizerConfig {
    OptimizerKind kind = OptimizerKind::Adam;
    double learningRate = 1e-3;
    double momentum = 0.9;                              ///< SGD
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< Adam
};

/// What is recorded of the numbers themselves, besides each quantization's amax, scale and counters.
struct NumericsConfig {
    int every = 10;            ///< steps from one sample of SQNR and exponents to the next; 0: never
    bool gradientNorm = true;  ///< of every step
    bool shadow = false;       ///< sampled steps of fp8 modes are computed in bf16 as well
};

/// Named switches; each is one rewrite pass over the plan (engine/plan/passes.h). All of them keep the results.
struct Fusions {
    bool biasEpilogue = false;   ///< bias added by the GEMM
    bool castChain = false;      ///< abs+max in one pass, convert+scale+clamp+cast in one (what torch.compile does)
    bool castTranspose = false;  ///< one read writes the fp8 tensor and its transpose, once a step
    bool dbiasCastTranspose = false;  ///< ... and the bias gradient, for dY
    bool actCast = false;  ///< activation with amax (scales of tensors, rows), or with amax, cast and transpose
    bool dactDbiasCastTranspose = false;  ///< activation's gradient with amax, or with cast and transpose; with dbias
    bool weightCache = false;             ///< weights cast once a step, not once a micro-batch
    bool scaleEpilogue = false;           ///< rowwise: gradients' scales applied by the GEMM
    bool optimizerCast = false;           ///< the update writes next step's fp8 weights
    bool actEpilogue = false;             ///< activation applied by the GEMM
    bool graph = false;                   ///< the step is one CUDA graph; changes no op
    friend bool operator==(const Fusions&, const Fusions&) = default;
};

/// Which layers fp8 modes keep in bf16, besides those that no fp8 GEMM takes. A layer is y = x W^T, W [out, in].
struct LayerFilter {
    std::int64_t minK = 1;          ///< in features
    std::int64_t minN = 1;          ///< out features
    std::int64_t multipleOf = 16;   ///< of in and out features
    std::vector<std::string> skip;  ///< names, with * and ? as in a shell
    bool firstLayerBf16 = false, lastLayerBf16 = false;
    bool torchaoAuto = false;  ///< torchao's _auto_filter_for_recipe
};

/// One run's complete configuration: a mode is a preset of precision and fusions ("bf16", "fp8", "fp8-fused").
struct MlpConfig {
    std::string name = "mlp";
    std::vector<std::int64_t> widths{1024, 1024, 1024};  ///< features before the first layer, then after each
    bool bias = true;
    Activation activation = Activation::Relu;  ///< between layers; none after the last
    std::int64_t batch = 1024;
    int microBatches = 1;           ///< parts of a batch, whose gradients add up before the one update
    DType wgradType = DType::Bf16;  ///< of weight gradients: bf16, or f32 as when many parts add up
    bool alwaysDgrad = false;       ///< fp8 layers compute the first layer's input gradient, as torchao does
    int checkpoint = 0;             ///< layers of a block whose forward is computed again in backward; 0: none is
    int steps = 20;
    int warmup = 3;
    Loss loss = Loss::MeanSquaredError;
    OptimizerConfig optimizer;
    RecipeConfig recipe;
    LayerFilter filter;
    NumericsConfig numerics;
    std::uint64_t seed = 1;
    int datasetBatches = 8;  ///< distinct batches drawn from the teacher, used in turn
    std::vector<std::string> modes{"bf16", "fp8", "fp8-fused"};
    /// Fusion switches set by hand ("bias_epilogue" -> true): they override the mode's preset. In the order of
    /// fusionSwitches(), each at most once.
    std::vector<std::pair<std::string, bool>> fusionOverrides;

    [[nodiscard]] std::int64_t microBatchRows() const { return batch / microBatches; }
    [[nodiscard]] std::size_t layerCount() const { return widths.size() - 1; }
};

/// What a mode means for one run: whether linears run in fp8, and which fusions are on.
struct ModeSettings {
    std::string mode;
    bool fp8 = false;
    Fusions fusions;
};

/// The settings of `mode` with the config's overrides applied: a preset ("fp8"), alone or with fusions added to it
/// ("fp8+cast_chain+cast_transpose"). Throws Error for an unknown mode or an illegal
/// combination.
[[nodiscard]] ModeSettings settingsFor(const MlpConfig&, std::string_view mode);

/// Reads TOML. `source` names the file (or option) in errors. A wrong key, type or range throws Error with file, line,
/// key and the nearest valid key. Checks everything that does not need the plan.
[[nodiscard]] MlpConfig parseConfig(std::string_view toml, std::string_view source);
/// Sets one key as an option does: applySetting(c, "optimizer.learning_rate", "0.01", "--set"). Same errors as
/// parseConfig, but for rules between keys, which settingsFor and buildPlan check once all are set. Lists may be typed
/// "784,512,10".
void applySetting(MlpConfig&, std::string_view key, std::string_view value, std::string_view source);
/// The complete configuration as TOML, every default written out; parseConfig gives the same config back.
[[nodiscard]] std::string toToml(const MlpConfig&);

/// All keys with type, range, default and meaning, for help and "nearest key" messages.
struct ConfigKey {
    std::string key, type, range, defaultValue, meaning;
};
[[nodiscard]] const std::vector<ConfigKey>& configKeys();

[[nodiscard]] std::string_view toString(Activation);
[[nodiscard]] std::string_view toString(Loss);
[[nodiscard]] std::string_view toString(OptimizerKind);
/// Fusion names in ablation order, and access by name.
struct FusionSwitch {
    std::string_view name;
    bool Fusions::*member;
    std::string_view meaning;
};
[[nodiscard]] const std::vector<FusionSwitch>& fusionSwitches();
/// Why a fusion does nothing with a recipe; empty when it does something. Presets leave it out, by hand it is refused.
[[nodiscard]] std::string_view fusionObstacle(const FusionSwitch&, RecipeKind);

}  // namespace fp8scope::plan

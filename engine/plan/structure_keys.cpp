// SPDX-License-Identifier: Apache-2.0
// Keys that say how a step is made of micro-batches and blocks, and which layers run in fp8.
#include "engine/plan/key_builders.h"

namespace fp8scope::plan {
namespace {

constexpr std::int64_t kMostMicroBatches = 1024;

KeyBinding skipKey()
{
    KeyBinding binding;
    binding.doc = {"filter.skip", "list of text", "names of layers, * and ? match as in a shell", "[]",
                   "layers that stay in bf16 by name: layer0, layer1*"};
    binding.type = ValueType::TextList;
    binding.set = [](MlpConfig& config, const SettingValue& value) -> BrokenRule {
        config.filter.skip = std::get<std::vector<std::string>>(value);
        return {};
    };
    binding.toml = [](const MlpConfig& config) { return tomlList(config.filter.skip); };
    return binding;
}

}  // namespace

std::vector<KeyBinding> structureKeys()
{
    return {
        integerKey(
            "micro_batches", 1, kMostMicroBatches,
            "equal parts of a batch, trained one after the other; their gradients add up before the one update",
            [](auto& c) -> auto& { return c.microBatches; }),
        wordKey<DType>(
            "wgrad_type", {DType::Bf16, DType::F32},
            "of weight gradients; f32 keeps what bf16 rounds away when micro-batches add up",
            [](auto& c) -> auto& { return c.wgradType; }),
        booleanKey(
            "always_dgrad", "fp8 layers also compute the gradient of the first layer's input, as torchao does",
            [](auto& c) -> auto& { return c.alwaysDgrad; }),
        integerKey(
            "checkpoint", 0, 10'000,
            "layers of a block whose forward is computed again in backward instead of kept; 0: all is kept",
            [](auto& c) -> auto& { return c.checkpoint; }),
    };
}

std::vector<KeyBinding> filterKeys()
{
    return {
        integerKey(
            "filter.min_k", 1, kLargestDimension, "layers of fewer in features stay in bf16",
            [](auto& c) -> auto& { return c.filter.minK; }),
        integerKey(
            "filter.min_n", 1, kLargestDimension, "layers of fewer out features stay in bf16",
            [](auto& c) -> auto& { return c.filter.minN; }),
        integerKey(
            "filter.multiple_of", 16, 4096, "layers whose in or out features are no multiple stay in bf16",
            [](auto& c) -> auto& { return c.filter.multipleOf; }),
        skipKey(),
        booleanKey(
            "filter.first_layer_bf16", "the first layer stays in bf16",
            [](auto& c) -> auto& { return c.filter.firstLayerBf16; }),
        booleanKey(
            "filter.last_layer_bf16", "the last layer stays in bf16",
            [](auto& c) -> auto& { return c.filter.lastLayerBf16; }),
        booleanKey(
            "filter.torchao_auto",
            "layers that torchao's _auto_filter_for_recipe finds too small stay in bf16; tensorwise and rowwise only",
            [](auto& c) -> auto& { return c.filter.torchaoAuto; }),
    };
}

}  // namespace fp8scope::plan

// SPDX-License-Identifier: Apache-2.0
// The table of configuration keys. A key is one entry: its documentation, its rule, how it is stored and how it is
// written.
#include "engine/plan/config_keys.h"

#include "engine/plan/key_builders.h"
#include "engine/plan/layer_filter.h"
#include "engine/plan/mode_name.h"
#include "engine/plan/recipe_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace fp8scope::plan {
namespace {

constexpr std::size_t kMostLayers = 10'000;

KeyBinding nameKey()
{
    KeyBinding binding;
    binding.doc = {"name", "text", "1 to 100 printable characters", quoted(MlpConfig{}.name), "what the run is called"};
    binding.type = ValueType::Text;
    binding.set = [](MlpConfig& config, const SettingValue& value) -> BrokenRule {
        const auto& name = std::get<std::string>(value);
        const bool printable =
            std::all_of(name.begin(), name.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
        if (name.empty() || name.size() > 100 || !printable)
            return "must be 1 to 100 printable characters";
        config.name = name;
        return {};
    };
    binding.toml = [](const MlpConfig& config) { return quoted(config.name); };
    return binding;
}

KeyBinding widthsKey()
{
    KeyBinding binding;
    binding.doc = {"widths", "list of integers",
                   fmt::format("2 to {} widths, each 1 to {}", kMostLayers + 1, kLargestDimension),
                   fmt::format("[{}]", fmt::join(MlpConfig{}.widths, ", ")),
                   "features before the first layer, then after each layer"};
    binding.type = ValueType::IntegerList;
    binding.set = [](MlpConfig& config, const SettingValue& value) -> BrokenRule {
        const auto& widths = std::get<std::vector<std::int64_t>>(value);
        if (widths.size() < 2 || widths.size() > kMostLayers + 1)
            return fmt::format("must be a list of 2 to {} widths, has {}", kMostLayers + 1, widths.size());
        for (const std::int64_t width : widths) {
            if (width < 1 || width > kLargestDimension)
                return fmt::format("must be widths from 1 to {}, has {}", kLargestDimension, width);
        }
        config.widths = widths;
        return {};
    };
    binding.toml = [](const MlpConfig& config) { return fmt::format("[{}]", fmt::join(config.widths, ", ")); };
    return binding;
}

KeyBinding modesKey()
{
    const std::string all = fmt::format("{}", fmt::join(modeNames(), ", "));
    KeyBinding binding;
    binding.doc = {"modes", "list of text", all, tomlList(MlpConfig{}.modes),
                   "the modes to run, in this order; fp8+cast_chain is fp8 with that fusion"};
    binding.type = ValueType::TextList;
    binding.set = [all](MlpConfig& config, const SettingValue& value) -> BrokenRule {
        const auto& modes = std::get<std::vector<std::string>>(value);
        if (modes.empty())
            return fmt::format("must name at least one of {}", all);
        for (auto mode = modes.begin(); mode != modes.end(); ++mode) {
            std::string broken;
            if (!parseModeName(*mode, broken))
                return mode->find('+') == std::string::npos
                           ? fmt::format("must name modes of {}, has '{}'", all, *mode)
                           : fmt::format("must name modes of {}, alone or with fusions as in fp8+cast_chain, has "
                                         "'{}': {}",
                                         all, *mode, broken);
            if (std::find(modes.begin(), mode, *mode) != mode)
                return fmt::format("must name each mode once, has '{}' twice", *mode);
        }
        config.modes = modes;
        return {};
    };
    binding.toml = [](const MlpConfig& config) { return tomlList(config.modes); };
    return binding;
}

std::size_t fusionPosition(std::string_view name)
{
    const auto& all = fusionSwitches();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const FusionSwitch& fusion) { return fusion.name == name; });
    return static_cast<std::size_t>(found - all.begin());
}

KeyBinding fusionKey(const FusionSwitch& fusion)
{
    const std::string name(fusion.name);
    KeyBinding binding;
    binding.doc = {"fusion." + name, "boolean", "true, false", "by mode", std::string(fusion.meaning)};
    binding.type = ValueType::Boolean;
    binding.set = [name](MlpConfig& config, const SettingValue& value) -> BrokenRule {
        auto& overrides = config.fusionOverrides;
        std::erase_if(overrides, [&](const auto& entry) { return entry.first == name; });
        const auto place = std::find_if(overrides.begin(), overrides.end(), [&](const auto& entry) {
            return fusionPosition(entry.first) > fusionPosition(name);
        });
        overrides.emplace(place, name, std::get<bool>(value));
        return {};
    };
    binding.toml = [name](const MlpConfig& config) -> std::string {
        for (const auto& [key, on] : config.fusionOverrides) {
            if (key == name)
                return on ? "true" : "false";
        }
        return {};
    };
    return binding;
}

std::vector<KeyBinding> makeBindings()
{
    const NumberRange fraction{0, 1, true};
    const NumberRange positive{0, 1000, false};
    std::vector<KeyBinding> keys{
        nameKey(),
        widthsKey(),
        booleanKey(
            "bias", "whether every layer has a bias", [](auto& c) -> auto& { return c.bias; }),
        wordKey<Activation>(
            "activation", {Activation::Relu, Activation::Gelu, Activation::None}, "between layers; none after the last",
            [](auto& c) -> auto& { return c.activation; }),
        integerKey(
            "batch", 1, kLargestDimension, "rows of a batch", [](auto& c) -> auto& { return c.batch; }),
        integerKey(
            "steps", 1, 1'000'000, "training steps that are measured", [](auto& c) -> auto& { return c.steps; }),
        integerKey(
            "warmup", 0, 1'000'000, "training steps before them, marked as warm-up",
            [](auto& c) -> auto& { return c.warmup; }),
        wordKey<Loss>(
            "loss", {Loss::MeanSquaredError, Loss::SoftmaxCrossEntropy},
            "what training lowers; the teacher network's outputs or their largest class are the targets",
            [](auto& c) -> auto& { return c.loss; }),
        integerKey(
            "seed", 0, std::numeric_limits<std::int64_t>::max(), "of the teacher, the data and the initial weights",
            [](auto& c) -> auto& { return c.seed; }),
        integerKey(
            "dataset_batches", 1, 4096, "distinct batches that the teacher makes, used in turn",
            [](auto& c) -> auto& { return c.datasetBatches; }),
        modesKey(),
        wordKey<OptimizerKind>(
            "optimizer.kind", {OptimizerKind::Adam, OptimizerKind::Sgd}, "both keep fp32 master weights",
            [](auto& c) -> auto& { return c.optimizer.kind; }),
        numberKey(
            "optimizer.learning_rate", positive, "size of an update",
            [](auto& c) -> auto& { return c.optimizer.learningRate; }),
        numberKey(
            "optimizer.momentum", fraction, "sgd only", [](auto& c) -> auto& { return c.optimizer.momentum; }),
        numberKey(
            "optimizer.beta1", fraction, "adam only: decay of the mean gradient",
            [](auto& c) -> auto& { return c.optimizer.beta1; }),
        numberKey(
            "optimizer.beta2", fraction, "adam only: decay of the mean squared gradient",
            [](auto& c) -> auto& { return c.optimizer.beta2; }),
        numberKey(
            "optimizer.epsilon", NumberRange{0, 1, false}, "adam only: keeps the division finite",
            [](auto& c) -> auto& { return c.optimizer.epsilon; }),
        wordKey<RecipeKind>(
            "recipe.kind",
            {RecipeKind::Tensorwise, RecipeKind::Delayed, RecipeKind::Rowwise, RecipeKind::RowwiseWithGwHp,
             RecipeKind::Blockwise, RecipeKind::Mxfp8},
            "how fp8 scales are chosen", [](auto& c) -> auto& { return c.recipe.kind; }),
    };
    const auto append = [&keys](std::vector<KeyBinding> more, auto place) {
        keys.insert(place, std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    const auto firstOfASection = std::find_if(
        keys.begin(), keys.end(), [](const KeyBinding& key) { return key.doc.key.find('.') != std::string::npos; });
    append(structureKeys(), firstOfASection);  // TOML's keys of no section come first
    append(recipeKeys(), keys.end());
    append(filterKeys(), keys.end());
    append(numericsKeys(), keys.end());
    for (const FusionSwitch& fusion : fusionSwitches())
        keys.push_back(fusionKey(fusion));
    return keys;
}

}  // namespace

const std::vector<KeyBinding>& keyBindings()
{
    static const std::vector<KeyBinding> bindings = makeBindings();
    return bindings;
}

const KeyBinding* findKey(std::string_view key)
{
    for (const KeyBinding& binding : keyBindings()) {
        if (binding.doc.key == key)
            return &binding;
    }
    return nullptr;
}

const std::vector<ConfigKey>& configKeys()
{
    static const std::vector<ConfigKey> keys = [] {
        std::vector<ConfigKey> docs;
        for (const KeyBinding& binding : keyBindings())
            docs.push_back(binding.doc);
        return docs;
    }();
    return keys;
}

std::string quoted(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out + '"';
}

std::string tomlNumber(double value)
{
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return text;
}

std::string_view describe(ValueType type)
{
    switch (type) {
    case ValueType::Boolean: return "true or false";
    case ValueType::Integer: return "an integer";
    case ValueType::Number: return "a number";
    case ValueType::Text: return "text";
    case ValueType::IntegerList: return "a list of integers";
    case ValueType::TextList: return "a list of text";
    }
    return "?";
}

std::optional<BrokenRelation> brokenRelation(const MlpConfig& config)
{
    if (config.numerics.shadow && config.numerics.every == 0)
        return BrokenRelation{"numerics.every",
                              "must be 1 or more for numerics.shadow, which compares the sampled steps"};
    if (config.loss == Loss::SoftmaxCrossEntropy && config.widths.back() < 2)
        return BrokenRelation{"widths", "must end with 2 classes or more for the loss softmax_cross_entropy"};
    if (auto broken = brokenRecipe(config.recipe))
        return broken;
    if (config.batch % config.microBatches != 0)
        return BrokenRelation{"micro_batches", fmt::format("must divide the batch: {} rows are not {} equal parts",
                                                           config.batch, config.microBatches)};
    return brokenFilter(config);
}

}  // namespace fp8scope::plan

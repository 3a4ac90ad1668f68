// SPDX-License-Identifier: Apache-2.0
// Configuration: what is read, what is refused and in which words, and that writing and reading agree.
#include "collector/trace/error.h"
#include "engine/plan/config.h"
#include "engine/plan/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace fp8scope::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string refusalOf(std::string_view toml)
{
    try {
        static_cast<void>(parseConfig(toml, "demo.toml"));
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

std::string settingRefusal(std::string_view key, std::string_view value)
{
    MlpConfig config;
    try {
        applySetting(config, key, value, "--set");
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(ConfigTest, EmptyFileGivesTheDefaults)
{
    const MlpConfig config = parseConfig("", "empty.toml");
    EXPECT_EQ(config.name, "mlp");
    EXPECT_THAT(config.widths, ElementsAre(1024, 1024, 1024));
    EXPECT_THAT(config.modes, ElementsAre("bf16", "fp8", "fp8-fused"));
    EXPECT_TRUE(config.fusionOverrides.empty());
}

TEST(ConfigTest, EveryKeyIsRead)
{
    const MlpConfig config = parseConfig(R"(
name = "all keys"
widths = [784, 512, 10]
bias = false
activation = "gelu"
batch = 256
steps = 7
warmup = 0
loss = "softmax_cross_entropy"
seed = 42
dataset_batches = 3
modes = ["fp8-fused", "bf16"]

[optimizer]
kind = "sgd"
learning_rate = 0.25
momentum = 0
beta1 = 0.5
beta2 = 0.75
epsilon = 1e-6

[recipe]
kind = "delayed"
history_length = 16
margin = 2

[fusion]
act_cast = false
bias_epilogue = true
)",
                                         "all.toml");
    EXPECT_EQ(config.name, "all keys");
    EXPECT_THAT(config.widths, ElementsAre(784, 512, 10));
    EXPECT_FALSE(config.bias);
    EXPECT_EQ(config.activation, Activation::Gelu);
    EXPECT_EQ(config.batch, 256);
    EXPECT_EQ(config.steps, 7);
    EXPECT_EQ(config.warmup, 0);
    EXPECT_EQ(config.loss, Loss::SoftmaxCrossEntropy);
    EXPECT_EQ(config.seed, 42U);
    EXPECT_EQ(config.datasetBatches, 3);
    EXPECT_THAT(config.modes, ElementsAre("fp8-fused", "bf16"));
    EXPECT_EQ(config.optimizer.kind, OptimizerKind::Sgd);
    EXPECT_EQ(config.optimizer.learningRate, 0.25);
    EXPECT_EQ(config.optimizer.momentum, 0.0);  // an integer is a number, too
    EXPECT_EQ(config.optimizer.beta1, 0.5);
    EXPECT_EQ(config.optimizer.beta2, 0.75);
    EXPECT_EQ(config.optimizer.epsilon, 1e-6);
    EXPECT_EQ(config.recipe.kind, RecipeKind::Delayed);
    EXPECT_EQ(config.recipe.historyLength, 16);
    EXPECT_EQ(config.recipe.margin, 2);
    EXPECT_THAT(config.fusionOverrides, ElementsAre(Pair("bias_epilogue", true), Pair("act_cast", false)));
}

TEST(ConfigTest, UnknownKeysNameFileLineAndTheNearestKey)
{
    EXPECT_EQ(refusalOf("steps = 3\nbtach = 4\n"), "demo.toml:2: unknown key 'btach'; did you mean 'batch'?");
    EXPECT_EQ(refusalOf("[optimizer]\nlearning_rat = 1\n"),
              "demo.toml:2: unknown key 'optimizer.learning_rat'; did you mean 'optimizer.learning_rate'?");
    EXPECT_EQ(refusalOf("learning_rate = 1\n"),
              "demo.toml:1: unknown key 'learning_rate'; did you mean 'optimizer.learning_rate'?");
    EXPECT_EQ(refusalOf("[optimiser]\nkind = 'sgd'\n"),
              "demo.toml:1: unknown section '[optimiser]'; did you mean '[optimizer]'?");
    EXPECT_THAT(refusalOf("frobnicate = 1\n"),
                HasSubstr("demo.toml:1: unknown key 'frobnicate'; the keys are name, widths,"));
}

TEST(ConfigTest, TheFirstMistakeInTheFileIsTheOneReported)
{
    EXPECT_THAT(refusalOf("zzzzzz = 1\naaaaaa = 1\n"), HasSubstr("demo.toml:1: unknown key 'zzzzzz'"));
}

TEST(ConfigTest, WrongTypesSayWhatIsWantedAndWhatIsThere)
{
    EXPECT_EQ(refusalOf("batch = '64'\n"), "demo.toml:1: key 'batch' must be an integer, is text");
    EXPECT_EQ(refusalOf("batch = 64.5\n"), "demo.toml:1: key 'batch' must be an integer, is a number with a fraction");
    EXPECT_EQ(refusalOf("widths = 64\n"), "demo.toml:1: key 'widths' must be a list of integers, is an integer");
    EXPECT_EQ(refusalOf("widths = [64, 'x']\n"),
              "demo.toml:1: key 'widths' must be a list of integers, is a list of something else");
    EXPECT_EQ(refusalOf("bias = 1\n"), "demo.toml:1: key 'bias' must be true or false, is an integer");
    EXPECT_EQ(refusalOf("[fusion]\ncast_chain = 'on'\n"),
              "demo.toml:2: key 'fusion.cast_chain' must be true or false, is text");
    EXPECT_EQ(refusalOf("[batch]\nx = 1\n"), "demo.toml:1: key 'batch' must be an integer, is a section");
}

TEST(ConfigTest, ValuesOutOfRangeNameTheRule)
{
    EXPECT_EQ(refusalOf("batch = 0\n"), "demo.toml:1: key 'batch' must be from 1 to 1048576, is 0");
    EXPECT_EQ(refusalOf("widths = [64, -8]\n"), "demo.toml:1: key 'widths' must be widths from 1 to 1048576, has -8");
    EXPECT_EQ(refusalOf("widths = [64]\n"), "demo.toml:1: key 'widths' must be a list of 2 to 10001 widths, has 1");
    EXPECT_EQ(refusalOf("activation = 'tanh'\n"),
              "demo.toml:1: key 'activation' must be one of relu, gelu, none, is 'tanh'");
    EXPECT_EQ(refusalOf("modes = ['bf16', 'fp16']\n"),
              "demo.toml:1: key 'modes' must name modes of bf16, fp8, fp8-fused, has 'fp16'");
    EXPECT_EQ(refusalOf("modes = ['fp8', 'fp8']\n"),
              "demo.toml:1: key 'modes' must name each mode once, has 'fp8' twice");
    EXPECT_EQ(refusalOf("modes = []\n"), "demo.toml:1: key 'modes' must name at least one of bf16, fp8, fp8-fused");
    EXPECT_EQ(refusalOf("[optimizer]\nlearning_rate = 0\n"),
              "demo.toml:2: key 'optimizer.learning_rate' must be above 0, at most 1000, is 0");
    EXPECT_EQ(refusalOf("[optimizer]\nlearning_rate = nan\n"),
              "demo.toml:2: key 'optimizer.learning_rate' must be above 0, at most 1000, is nan");
    EXPECT_EQ(refusalOf("[optimizer]\nbeta1 = 1.0\n"), "demo.toml:2: key 'optimizer.beta1' must be 0 to below 1, is 1");
    EXPECT_EQ(refusalOf("seed = -1\n"), "demo.toml:1: key 'seed' must be from 0 to 9223372036854775807, is -1");
    EXPECT_EQ(refusalOf("name = ''\n"), "demo.toml:1: key 'name' must be 1 to 100 printable characters");
}

TEST(ConfigTest, RulesBetweenKeysPointAtTheirLine)
{
    EXPECT_EQ(refusalOf("loss = 'softmax_cross_entropy'\nwidths = [64, 1]\n"),
              "demo.toml:2: key 'widths' must end with 2 classes or more for the loss softmax_cross_entropy");
    EXPECT_EQ(
        refusalOf("modes = ['fp8']\n[fusion]\ncast_transpose = true\n"),
        "demo.toml:3: fusion cast_transpose needs cast_chain in mode fp8: it adds the transpose to the one-pass cast; "
        "turn fusion.cast_chain on or fusion.cast_transpose off");
}

TEST(ConfigTest, BrokenTomlNamesTheLine)
{
    EXPECT_THAT(refusalOf("steps = 3\nbatch = = 4\n"), HasSubstr("demo.toml:2: not valid TOML: "));
    EXPECT_THAT(refusalOf("batch = 4\nbatch = 5\n"), HasSubstr("demo.toml:2: not valid TOML: "));
}

TEST(ConfigTest, WritingAndReadingAgree)
{
    MlpConfig config;
    config.name = R"(quotes " and \ in it)";
    config.widths = {48, 7, 16};
    config.bias = false;
    config.activation = Activation::None;
    config.batch = 17;
    config.steps = 2;
    config.warmup = 1;
    config.loss = Loss::SoftmaxCrossEntropy;
    config.optimizer = {OptimizerKind::Sgd, 0.1, 0.95, 0.85, 0.125, 1e-12};
    config.recipe = {.kind = RecipeKind::Delayed, .historyLength = 33, .margin = 4};
    config.seed = 9223372036854775807U;
    config.datasetBatches = 2;
    config.modes = {"fp8"};
    config.fusionOverrides = {{"bias_epilogue", true}, {"cast_chain", false}};

    const MlpConfig read = parseConfig(toToml(config), "written");

    EXPECT_EQ(toToml(read), toToml(config));
    EXPECT_EQ(read.name, config.name);
    EXPECT_EQ(read.widths, config.widths);
    EXPECT_EQ(read.optimizer.learningRate, config.optimizer.learningRate);
    EXPECT_EQ(read.optimizer.epsilon, config.optimizer.epsilon);
    EXPECT_EQ(read.seed, config.seed);
    EXPECT_EQ(read.modes, config.modes);
    EXPECT_EQ(read.fusionOverrides, config.fusionOverrides);
}

TEST(ConfigTest, WrittenTomlHoldsEveryDefault)
{
    EXPECT_EQ(toToml(MlpConfig{}), R"(name = "mlp"
widths = [1024, 1024, 1024]
bias = true
activation = "relu"
batch = 1024
steps = 20
warmup = 3
loss = "mean_squared_error"
seed = 1
dataset_batches = 8
modes = ["bf16", "fp8", "fp8-fused"]
micro_batches = 1
wgrad_type = "bf16"
always_dgrad = false
checkpoint = 0

[optimizer]
kind = "adam"
learning_rate = 0.001
momentum = 0.9
beta1 = 0.9
beta2 = 0.999
epsilon = 1e-08

[recipe]
kind = "tensorwise"
input_format = "e4m3"
weight_format = "e4m3"
gradient_format = "e5m2"
power_of_two = false
min_amax = 1e-12

[filter]
min_k = 1
min_n = 1
multiple_of = 16
skip = []
first_layer_bf16 = false
last_layer_bf16 = false
torchao_auto = false

[numerics]
every = 10
gradient_norm = true
shadow = false
)");
}

TEST(ConfigTest, WrittenTomlHoldsTheKeysThatTheRecipeUses)
{
    MlpConfig config;
    config.recipe.kind = RecipeKind::Delayed;
    config.recipe.amaxAlgorithm = AmaxAlgorithm::MostRecent;
    EXPECT_THAT(toToml(config), HasSubstr(R"(
[recipe]
kind = "delayed"
input_format = "e4m3"
weight_format = "e4m3"
gradient_format = "e5m2"
history_length = 1024
margin = 0
amax_algo = "most_recent"
)"));
    EXPECT_EQ(toToml(parseConfig(toToml(config), "written")), toToml(config));
}

TEST(ConfigTest, AKeyThatTheRecipeDoesNotUseIsRefused)
{
    EXPECT_THAT(refusalOf("[recipe]\nkind = \"tensorwise\"\nmargin = 1\n"),
                HasSubstr("demo.toml:3: key 'recipe.margin' is not used by the recipe tensorwise, only by delayed"));
    EXPECT_THAT(refusalOf("[recipe]\nkind = \"delayed\"\npower_of_two = true\n"),
                HasSubstr("key 'recipe.power_of_two' is not used by the recipe delayed"));
}

TEST(ConfigTest, FormatsThatNoGemmMultipliesAreRefused)
{
    EXPECT_THAT(
        refusalOf("[recipe]\nweight_format = \"e5m2\"\n"),
        HasSubstr("demo.toml:2: key 'recipe.weight_format' must be e4m3 while recipe.gradient_format is e5m2: no "
                  "GEMM multiplies e5m2 with e5m2"));
    EXPECT_THAT(refusalOf("[recipe]\ninput_format = \"e5m2\"\nweight_format = \"e5m2\"\n"),
                HasSubstr("demo.toml:2: key 'recipe.input_format' must be e4m3 while recipe.weight_format is e5m2"));
    EXPECT_THAT(refusalOf("[recipe]\ngradient_format = \"e3m4\"\n"),
                HasSubstr("key 'recipe.gradient_format' must be one of e4m3, e5m2, is 'e3m4'"));
    EXPECT_EQ(refusalOf("[recipe]\ninput_format = \"e5m2\"\ngradient_format = \"e4m3\"\n"), "accepted");
}

TEST(ConfigTest, SettingsTakeValuesAsPeopleTypeThem)
{
    MlpConfig config;
    applySetting(config, "widths", "784,512,10", "--set");
    applySetting(config, "modes", "bf16, fp8", "--set");
    applySetting(config, "activation", "gelu", "--set");
    applySetting(config, "optimizer.learning_rate", "1e-2", "--set");
    applySetting(config, "fusion.cast_chain", "true", "--set");
    applySetting(config, "fusion.cast_chain", "false", "--set");
    applySetting(config, "name", "it's mine", "--set");
    EXPECT_THAT(config.widths, ElementsAre(784, 512, 10));
    EXPECT_THAT(config.modes, ElementsAre("bf16", "fp8"));
    EXPECT_EQ(config.activation, Activation::Gelu);
    EXPECT_EQ(config.optimizer.learningRate, 0.01);
    EXPECT_THAT(config.fusionOverrides, ElementsAre(Pair("cast_chain", false)));
    EXPECT_EQ(config.name, "it's mine");

    applySetting(config, "widths", "[16, 32]", "--set");
    applySetting(config, "activation", "\"none\"", "--set");
    EXPECT_THAT(config.widths, ElementsAre(16, 32));
    EXPECT_EQ(config.activation, Activation::None);
}

TEST(ConfigTest, SettingsAreRefusedInTheSameWords)
{
    EXPECT_EQ(settingRefusal("btach", "4"), "--set: unknown key 'btach'; did you mean 'batch'?");
    EXPECT_EQ(settingRefusal("batch", "many"), "--set: key 'batch' must be an integer, is 'many'");
    EXPECT_EQ(settingRefusal("batch", "-4"), "--set: key 'batch' must be from 1 to 1048576, is -4");
    EXPECT_EQ(settingRefusal("batch", "4\nsteps = 5"), "--set: key 'batch' must be one value, is '4\nsteps = 5'");
    EXPECT_EQ(settingRefusal("modes", "bf16,"), "--set: key 'modes' must name modes of bf16, fp8, fp8-fused, has ''");
    EXPECT_EQ(settingRefusal("bias", "yes"), "--set: key 'bias' must be true or false, is 'yes'");
}

TEST(ConfigTest, EveryKeyIsInTheHelpPageWithItsRangeAndDefault)
{
    const std::filesystem::path page = std::filesystem::path(FP8SCOPE_SOURCE_DIR) / "resources/help/configuration.md";
    std::stringstream text;
    text << std::ifstream(page).rdbuf();
    for (const ConfigKey& key : configKeys()) {
        const std::string row = "| `" + key.key + "` | " + key.type + " | " + key.range + " | `" + key.defaultValue +
                                "` | " + key.meaning + " |";
        EXPECT_THAT(text.str(), HasSubstr(row));
    }
}

TEST(NearestTest, CountsInsertionsDeletionsReplacementsAndSwaps)
{
    EXPECT_EQ(editDistance("", "abc"), 3U);
    EXPECT_EQ(editDistance("batch", "batch"), 0U);
    EXPECT_EQ(editDistance("btach", "batch"), 1U);
    EXPECT_EQ(editDistance("kitten", "sitting"), 3U);
}

TEST(NearestTest, FindsNothingWhenNothingIsNear)
{
    const std::vector<std::string> words{"widths", "optimizer.learning_rate"};
    EXPECT_EQ(nearest("width", words), "widths");
    EXPECT_EQ(nearest("learning_rates", words), "optimizer.learning_rate");
    EXPECT_EQ(nearest("banana", words), std::nullopt);
}

}  // namespace
}  // namespace fp8scope::plan

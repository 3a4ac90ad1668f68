// SPDX-License-Identifier: Apache-2.0
#include "app/cli/model_options.h"

#include "app/cli/fusion_option.h"
#include "app/cli/presets.h"
#include "app/cli/read_file.h"

#include <fmt/format.h>

namespace fp8scope::cli {
namespace {

/// "1024,512" as TOML: [1024, 512]; words are quoted.
std::string tomlList(const std::string& text, bool quote)
{
    std::string list = "[";
    std::size_t start = 0;
    while (start <= text.size()) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        const std::string item = text.substr(start, end - start);
        list += (start > 0 ? ", " : "") + (quote ? '"' + item + '"' : item);
        start = end + 1;
    }
    return list + "]";
}

}  // namespace

plan::MlpConfig configOf(const ModelOptions& options)
{
    if (!options.config.empty() && !options.preset.empty())
        throw CLI::ValidationError("--config and --preset exclude each other; a preset is a configuration");
    plan::MlpConfig config;
    if (!options.config.empty())
        config = plan::parseConfig(readFile(options.config), options.config.string());
    else if (!options.preset.empty())
        config = plan::parseConfig(presetToml(options.preset), "preset " + options.preset);
    for (const auto& [key, value] : options.settings)
        plan::applySetting(config, key, value, "option for " + key);
    for (const std::string& word : options.fusions)  // last: "all" depends on the recipe
        applyFusionWord(config, word);
    return config;
}

void addSetting(CLI::App& command, ModelOptions& options, const std::string& flags, const std::string& key,
                const std::string& help, const std::string& placeholder)
{
    command
        .add_option_function<std::string>(
            flags, [&options, key](const std::string& value) { options.settings.emplace_back(key, value); }, help)
        ->option_text(placeholder);
}

void addModelOptions(CLI::App& command, ModelOptions& options)
{
    command.add_option("--preset", options.preset, "A configuration by name: " + presetNames())->option_text("NAME");
    command.add_option("--config", options.config, "A configuration file (TOML)")->option_text("FILE");
    command
        .add_option_function<std::string>(
            "--widths",
            [&options](const std::string& v) { options.settings.emplace_back("widths", tomlList(v, false)); },
            "Features before the first layer, then after each: 1024,4096,1024")
        ->option_text("N,N,...");
    command
        .add_option_function<std::string>(
            "--modes", [&options](const std::string& v) { options.settings.emplace_back("modes", tomlList(v, true)); },
            "Modes to train in turn: bf16,fp8,fp8-fused")
        ->option_text("MODE,...");
    command.add_flag_callback(
        "--no-bias", [&options] { options.settings.emplace_back("bias", "false"); }, "Linear layers without bias");
    addSetting(command, options, "--activation", "activation", "relu, gelu or none", "NAME");
    addSetting(command, options, "--batch", "batch", "Rows of a batch", "N");
    addSetting(command, options, "--steps", "steps", "Steps a mode, after the warm-up", "N");
    addSetting(command, options, "--warmup", "warmup", "Steps before them, flagged as warm-up", "N");
    addSetting(command, options, "--loss", "loss", "mean_squared_error or softmax_cross_entropy", "NAME");
    addSetting(command, options, "--optimizer", "optimizer.kind", "adam or sgd", "NAME");
    addSetting(command, options, "--learning-rate", "optimizer.learning_rate", "Learning rate", "X");
    addSetting(command, options, "--seed", "seed", "Seed of weights and data", "N");
    command
        .add_option_function<std::vector<std::string>>(
            "--fusion",
            [&options](const std::vector<std::string>& words) {
                options.fusions.insert(options.fusions.end(), words.begin(), words.end());
            },
            "Fusions on or off in all modes that can have them: all (what fp8-fused has), none, or names,\n"
            "cast_chain,cast_transpose=false; run --fusion list prints what there is")
        ->delimiter(',')
        ->option_text("all|none|NAME[=BOOL],...");
    command
        .add_option_function<std::vector<std::string>>(
            "--set",
            [&options](const std::vector<std::string>& assignments) {
                for (const std::string& s : assignments) {
                    const std::size_t eq = s.find('=');
                    if (eq == std::string::npos)
                        throw CLI::ValidationError("--set", fmt::format("'{}' is not KEY=VALUE", s));
                    options.settings.emplace_back(s.substr(0, eq), s.substr(eq + 1));
                }
            },
            "Set any key of the configuration: --set optimizer.beta2=0.95")
        ->option_text("KEY=VALUE");
}

}  // namespace fp8scope::cli

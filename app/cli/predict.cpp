// SPDX-License-Identifier: Apache-2.0
// `fp8scope predict`: what fp8 would bring on a GPU that need not be there.
#include "app/cli/predict.h"

#include "app/cli/device_files.h"
#include "app/cli/model_options.h"

#include <map>

namespace fp8scope::cli {
namespace {

struct PredictOptions {
    std::string device = "h100-sxm";
    std::vector<std::filesystem::path> deviceFiles;
    LayerQuestion layers;
    std::vector<std::string> sweep;
    ModelOptions model;
    RunQuestion run;
    bool recipeIsDefault = true;
};

void addLayerOptions(CLI::App& command, PredictOptions& options)
{
    static const std::map<std::string, predict::Pass> passes{{"forward", predict::Pass::Forward},
                                                             {"training", predict::Pass::Training}};
    static const std::map<std::string, predict::Clock> clocks{{"burst", predict::Clock::Burst},
                                                              {"steady", predict::Clock::Steady}};
    LayerQuestion& layers = options.layers;
    command.add_option("--shapes", layers.shapes, "Linear layers: M,K,N each (tokens, inputs, outputs), or a CSV file")
        ->option_text("M,K,N ...");
    command.add_option("--sweep", options.sweep, "The break-even map: M=1024:65536 K=4096 N=1024:16384:1024")
        ->option_text("RANGE ...");
    command.add_option("--recipe", layers.recipes, "tensorwise, delayed, rowwise, blockwise, mxfp8 or all")
        ->delimiter(',')
        ->option_text("NAME,...");
    command
        .add_option("--quantization", layers.quantization,
                    "none, static, dynamic, fused or eager (default: dynamic in CSV, else the last three)")
        ->delimiter(',')
        ->option_text("WAY,...");
    command.add_option("--pass", layers.pass, "forward or training (all three GEMMs)")
        ->transform(CLI::CheckedTransformer(passes, CLI::ignore_case).description(""))
        ->option_text("PASS");
    command.add_option("--clock", layers.clock, "burst (as benchmarks measure) or steady (a long training run)")
        ->transform(CLI::CheckedTransformer(clocks, CLI::ignore_case).description(""))
        ->option_text("CLOCK");
    addFormatOption(command, layers.format);
    command.add_option("--time-unit", layers.timeUnit, "Unit of times in tables: auto, ns, us, ms or s")
        ->check(CLI::IsMember({"auto", "ns", "us", "ms", "s"}).description(""))
        ->option_text("UNIT");
}

/// A whole training run, asked for by --preset, --config or options of the model.
void predictTraining(const predict::DeviceModel& device, const PredictOptions& options)
{
    ModelOptions model = options.model;
    if (model.preset.empty() && model.config.empty() && model.settings.empty())
        throw CLI::ValidationError("predict needs --shapes, --sweep, or a model: --preset, --config or --widths");
    if (options.layers.recipes.size() > 1)
        throw CLI::ValidationError("--recipe", "a run has one recipe");
    if (!options.recipeIsDefault)
        model.settings.emplace_back("recipe.kind", options.layers.recipes.at(0));
    printRun(device, configOf(model), options.run, options.layers.format, options.layers.timeUnit);
}

void addRunOptions(CLI::App& command, PredictOptions& options)
{
    static const std::map<std::string, predict::Host> hosts{
        {"engine", predict::Host::Engine}, {"eager", predict::Host::Eager}, {"graph", predict::Host::Graph}};
    command.add_option("-o,--output", options.run.output, "Write the predicted run as a trace")
        ->option_text("FILE.fp8trace");
    command.add_flag("--force", options.run.force, "Replace the output file if it exists");
    command
        .add_option("--host", options.run.host,
                    "Who submits kernels: engine (C++), eager (PyTorch) or graph (CUDA graph)")
        ->transform(CLI::CheckedTransformer(hosts, CLI::ignore_case).description(""))
        ->option_text("HOST");
}

void execute(const PredictOptions& options)
{
    const predict::DeviceTable devices = allDevices(options.deviceFiles);
    const predict::DeviceModel& device = devices.find(options.device);
    if (!options.sweep.empty())
        printSweep(device, options.layers, options.sweep);
    else if (!options.layers.shapes.empty())
        printLayers(device, options.layers);
    else
        predictTraining(device, options);
}

}  // namespace

void addPredictCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<PredictOptions>();
    CLI::App* command = app.add_subcommand("predict", "Would fp8 pay, and on which GPU: times predicted, not measured");
    command->add_option("--device", options->device, "For which device (see `fp8scope devices`)")
        ->capture_default_str()
        ->option_text("ID");
    command->add_option("--device-file", options->deviceFiles, "Further devices (TOML)")->option_text("FILE");
    addModelOptions(*command, options->model);
    addLayerOptions(*command, *options);
    addRunOptions(*command, *options);
    command->footer("Examples: fp8scope predict --device h100-sxm --shapes 16384,4096,14336 --recipe all\n"
                    "          fp8scope predict --device b200-sxm --preset demo -o predicted.fp8trace");
    command->callback([options, command] {
        options->recipeIsDefault = command->count("--recipe") == 0;
        execute(*options);
    });
}

}  // namespace fp8scope::cli

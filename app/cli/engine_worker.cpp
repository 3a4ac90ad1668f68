// SPDX-License-Identifier: Apache-2.0
// `fp8scope engine-worker`, hidden: the child process in which a run's mode is trained (engine/worker).
#include "app/cli/command.h"

#include "engine/worker/worker.h"

namespace fp8scope::cli {

void addEngineWorkerCommand(CLI::App& app, Program& program)
{
    CLI::App* command = app.add_subcommand("engine-worker", "");
    command->group("");
    command->prefix_command();
    command->callback([command, &program] { program.exitCode = worker::workerMain(command->remaining()); });
}

}  // namespace fp8scope::cli

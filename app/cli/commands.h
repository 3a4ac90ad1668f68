// SPDX-License-Identifier: Apache-2.0
// All subcommands, for main.cpp only: so a new one does not rebuild the others.
#pragma once

#include "app/cli/command.h"

namespace fp8scope::cli {

void addRunCommand(CLI::App&, Program&);
void addCollectCommand(CLI::App&, Program&);
void addCtlCommand(CLI::App&, Program&);
void addImportCommand(CLI::App&, Program&);
void addExportCommand(CLI::App&, Program&);
void addInfoCommand(CLI::App&, Program&);
void addBreakdownCommand(CLI::App&, Program&);
void addLayersCommand(CLI::App&, Program&);
void addGemmsCommand(CLI::App&, Program&);
void addKernelsCommand(CLI::App&, Program&);
void addCompareCommand(CLI::App&, Program&);
void addAdviseCommand(CLI::App&, Program&);
void addRanksCommand(CLI::App&, Program&);
void addNumericsCommand(CLI::App&, Program&);
void addClassifyCommand(CLI::App&, Program&);
void addCheckRulesCommand(CLI::App&, Program&);
void addQueryCommand(CLI::App&, Program&);
void addReportCommand(CLI::App&, Program&);
void addPredictCommand(CLI::App&, Program&);
void addDevicesCommand(CLI::App&, Program&);
void addCalibrateCommand(CLI::App&, Program&);
/// Hidden: the child process of `run` that trains.
void addEngineWorkerCommand(CLI::App&, Program&);

}  // namespace fp8scope::cli

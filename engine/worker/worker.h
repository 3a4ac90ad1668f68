// SPDX-License-Identifier: Apache-2.0
// The engine's side of a run: a child process that trains one mode and tells the recorder what it does.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fp8scope::worker {

struct WorkerRequest {
    std::filesystem::path socket;  ///< the recorder's
    std::string token;             ///< what the recorder wants to see
    std::filesystem::path config;  ///< a file of TOML, as plan::toToml writes it
    std::string mode;
    int threads = 0;  ///< 0: as many as the process may use
    int parent = 0;   ///< process whose end stops the worker too; 0: none
};

enum WorkerExit : int {
    kWorkerDone = 0,
    kWorkerFailed = 1,   ///< one line on standard error, and the run's note, say why
    kWorkerStopped = 3,  ///< by SIGINT or SIGTERM, after a whole step
};

/// Trains warm-up and measured steps of a mode. SIGINT and SIGTERM let the current step finish and end the run as
/// incomplete. If the recorder goes away, training goes on unrecorded. Does not throw: an Error becomes the run's note,
/// a diagnostic, and one line on standard error.
[[nodiscard]] int runWorker(const WorkerRequest&) noexcept;

/// The same from the arguments of `fp8scope engine-worker`: --socket, --config, --mode, --threads, --parent, each with
/// a value; the token comes from the environment (wire::kTokenVariable).
[[nodiscard]] int workerMain(const std::vector<std::string>& arguments) noexcept;

}  // namespace fp8scope::worker

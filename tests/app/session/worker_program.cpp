// SPDX-License-Identifier: Apache-2.0
// The engine's worker as a program of its own, so that the session is tested with real child processes and without the
// command.
#include "engine/worker/worker.h"

int main(int argc, char** argv)
{
    // argv[1] is the subcommand, "engine-worker".
    return fp8scope::worker::workerMain({argv + (argc > 2 ? 2 : argc), argv + argc});
}

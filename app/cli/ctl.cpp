// SPDX-License-Identifier: Apache-2.0
// `fp8scope ctl`: talks to a running `fp8scope collect`.
#include "app/cli/command.h"
#include "collector/recorder/control_socket.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

namespace fp8scope::cli {
namespace {

recorder::RunningSession chosenSession(std::uint32_t pid)
{
    const auto sessions = recorder::runningSessions();
    std::string pids;
    for (const recorder::RunningSession& session : sessions) {
        if (session.pid == pid || (pid == 0 && sessions.size() == 1))
            return session;
        pids += (pids.empty() ? "" : ", ") + std::to_string(session.pid);
    }
    if (sessions.empty())
        throw Error("no recording runs on this machine", "", "start one with fp8scope collect");
    if (pid != 0)
        throw Error(fmt::format("no recording has process id {}", pid), "", "these run: " + pids);
    throw Error("several recordings run", "", "choose one with --pid: " + pids);
}

void addVerb(CLI::App& ctl, const std::shared_ptr<std::uint32_t>& pid, Program& program, const std::string& verb,
             const std::string& help)
{
    CLI::App* command = ctl.add_subcommand(verb, help);
    auto name = std::make_shared<std::string>();
    if (verb == "mark")
        command->add_option("NAME", *name, "What to write on the timeline")->required()->option_text(" ");
    command->callback([=, &program] {
        const std::string reply = recorder::ask(chosenSession(*pid), name->empty() ? verb : verb + " " + *name);
        print(reply + "\n");
        program.exitCode = reply.empty() ? kFailure : kSuccess;
    });
}

}  // namespace

void addCtlCommand(CLI::App& app, Program& program)
{
    CLI::App* ctl = app.add_subcommand("ctl", "Start, stop or mark a running fp8scope collect");
    auto pid = std::make_shared<std::uint32_t>(0);
    ctl->add_option("--pid", *pid, "Process id of the fp8scope collect, where several run")->option_text("PID");
    ctl->require_subcommand(1);
    addVerb(*ctl, pid, program, "start", "Begin, or go on, recording");
    addVerb(*ctl, pid, program, "stop", "Pause recording; the program runs on");
    addVerb(*ctl, pid, program, "status", "What has been recorded so far");
    addVerb(*ctl, pid, program, "mark", "Write a mark on the timeline");
}

}  // namespace fp8scope::cli

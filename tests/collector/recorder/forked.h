// SPDX-License-Identifier: Apache-2.0
// Child processes of tests, and a recorder in one.
#pragma once

#include "collector/recorder/recorder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace fp8scope::test {

/// Runs `body` in a child process, which then exits without running anything of the parent's.
inline pid_t forked(const std::function<int()>& body)
{
    const pid_t pid = ::fork();
    if (pid == 0)
        ::_exit(body());
    if (pid < 0)
        throw std::runtime_error("fork failed");  // a test that went on would signal every process
    return pid;
}

inline int statusOf(pid_t pid)
{
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return status;
}

/// A recorder in a child process that pumps until it is killed, and says in the file `address` where it listens.
inline pid_t forkRecorder(const std::filesystem::path& trace, const std::filesystem::path& address)
{
    return forked([&] {
        recorder::Recorder recorder(trace);
        std::ofstream(address.string() + ".new") << recorder.socket().string() << ' ' << recorder.token();
        std::filesystem::rename(address.string() + ".new", address);
        for (;;)
            recorder.pump(std::chrono::milliseconds(10));
        return 0;
    });
}

struct RecorderAddress {
    std::string socket, token;
};

inline RecorderAddress awaitAddress(const std::filesystem::path& file)
{
    while (!std::filesystem::exists(file))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    RecorderAddress address;
    std::ifstream(file) >> address.socket >> address.token;
    return address;
}

}  // namespace fp8scope::test

// SPDX-License-Identifier: Apache-2.0
// The producer's end of the socket: it delivers, and outlives its recorder.
#include "collector/trace/error.h"
#include "collector/wire/decoder.h"
#include "collector/wire/producer.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

namespace fp8scope::wire {
namespace {

/// A socket that somebody listens on, in a directory of its own.
class WireProducerTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_NE(::mkdtemp(m_directory), nullptr);
        m_path = std::filesystem::path(m_directory) / "socket";
        m_listener = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, m_path.c_str(), sizeof address.sun_path - 1);
        ASSERT_EQ(::bind(m_listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(::listen(m_listener.get(), 1), 0);
    }
    void TearDown() override { std::filesystem::remove_all(m_directory); }

    [[nodiscard]] UniqueFd accept() const { return UniqueFd(::accept(m_listener.get(), nullptr, nullptr)); }

    char m_directory[32] = "/tmp/fp8scope-test-XXXXXX";
    std::filesystem::path m_path;
    UniqueFd m_listener;
};

std::vector<Record> readToEnd(int fd)
{
    Decoder decoder;
    std::vector<Record> records;
    std::byte buffer[4096];
    for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;) {
        decoder.feed(std::span(buffer).first(static_cast<std::size_t>(got)));
        while (auto record = decoder.next())
            records.push_back(std::move(*record));
    }
    return records;
}

TEST_F(WireProducerTest, MoreThanASocketBufferArrivesWhole)
{
    std::vector<Record> received;
    std::jthread reader([&] { received = readToEnd(accept().get()); });
    {
        Producer producer(m_path, helloOfThisProcess("token", "test"));
        for (int i = 0; i < 64; ++i)
            producer.records().append(Diagnostic{.name = "big", .text = std::string(100'000, 'x')});
        producer.records().append(Bye{});
        producer.flush();
        EXPECT_TRUE(producer.connected());
    }
    reader.join();
    ASSERT_EQ(received.size(), 66U);
    EXPECT_EQ(std::get<Hello>(received.front()).pid, static_cast<std::uint32_t>(::getpid()));
    EXPECT_EQ(std::get<Diagnostic>(received[64]).text.size(), 100'000U);
}

TEST_F(WireProducerTest, GoesQuietWhenTheRecorderIsGone)
{
    Producer producer(m_path, helloOfThisProcess("token", "test"));
    accept().reset();  // accepted and closed at once; the next send would be SIGPIPE
    for (int i = 0; i < 3; ++i) {
        producer.records().append(Diagnostic{.name = "unheard"});
        producer.flush();
        EXPECT_TRUE(producer.records().bytes().empty()) << "nothing piles up";
    }
    EXPECT_FALSE(producer.connected());
}

TEST_F(WireProducerTest, NobodyListeningIsAnErrorThatNamesTheSocket)
{
    const auto nowhere = m_path.parent_path() / "nobody";
    try {
        Producer producer(nowhere, {});
        FAIL() << "connected";
    } catch (const Error& error) {
        EXPECT_EQ(error.where(), nowhere.string());
    }
    EXPECT_THROW(Producer(std::string(200, 'x'), {}), Error) << "longer than a socket's path may be";
}

}  // namespace
}  // namespace fp8scope::wire

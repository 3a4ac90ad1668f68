// SPDX-License-Identifier: Apache-2.0
#include "collector/recorder/recorder.h"

#include "collector/recorder/producer_session.h"
#include "collector/recorder/trace_sink.h"
#include "collector/recorder/unix_listener.h"
#include "collector/trace/error.h"
#include "collector/wire/decoder.h"
#include "collector/wire/injection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

namespace fp8scope::recorder {

namespace {

constexpr std::size_t kMaxProducers = 256;

std::string makeToken()
{
    std::array<unsigned char, 16> random{};
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
        throw Error(std::string("cannot make a token (") + std::strerror(errno) + ")", "getrandom", "");
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string token;
    for (const unsigned char byte : random) {
        token += kDigits[byte >> 4];
        token += kDigits[byte & 15];
    }
    return token;
}

/// Takes as long for a wrong token as for the right one.
bool sameToken(std::string_view expected, std::string_view shown)
{
    if (shown.size() != expected.size())
        return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        difference |= static_cast<unsigned>(expected[i] ^ shown[i]);
    return difference == 0;
}

struct Connection {
    wire::UniqueFd fd;
    wire::Decoder decoder;
    std::optional<ProducerSession> session;  ///< empty until its hello was accepted
};

}  // namespace

struct Recorder::Impl {
    Impl(const std::filesystem::path& output, TraceWriter::IfExists ifExists, RecorderObserver observer,
         const std::filesystem::path& socket, std::string token_)
        : listener(std::in_place, socket), sink(output, ifExists, std::move(observer)), token(std::move(token_))
    {}

    void waitAndReceive(int timeoutMs);
    void acceptProducers();
    void receive(Connection&);
    void decode(Connection&);
    void greet(Connection&, const wire::Hello&);
    void command(const Connection&, wire::Command);
    void refuse(Connection&, const std::string& problem);
    void disconnect(Connection&, const std::string& reason);
    void stop();
    /// Does what writes the trace. An Error of it ends the recording, and goes on to the caller.
    template <typename Work>
    void writing(Work&& work);

    bool failed = false;
    std::optional<UnixListener> listener;  ///< empty after close() or a failure
    TraceSink sink;
    std::string token;
    std::list<Connection> connections;
    std::optional<wire::Command> standing;  ///< what producers were told last
    std::vector<std::byte> chunk = std::vector<std::byte>(std::size_t{64} << 10);
};

Recorder::Recorder(const std::filesystem::path& output, TraceWriter::IfExists ifExists, RecorderObserver observer)
    : m_token(makeToken()),
      m_impl(std::make_unique<Impl>(output, ifExists, std::move(observer), m_directory.socket(), m_token))
{}

Recorder::~Recorder() = default;

bool Recorder::failed() const { return m_impl->failed; }
bool Recorder::hasProducers() const { return !m_impl->connections.empty(); }
const std::deque<RecordedRun>& Recorder::runs() const { return m_impl->sink.runs(); }
std::uint64_t Recorder::durableSteps() const { return m_impl->sink.durableSteps(); }

template <typename Work>
void Recorder::Impl::writing(Work&& work)
{
    try {
        work();
    } catch (const Error&) {
        failed = true;
        stop();
        throw;
    }
}

void Recorder::setMeta(std::string_view key, std::string_view value)
{
    m_impl->writing([&] { m_impl->sink.writer().setMeta(key, value); });
}

void Recorder::explain(RunId run, const std::string& note)
{
    m_impl->writing([&] { m_impl->sink.explain(run, note); });
}

bool Recorder::mark(const std::string& name)
{
    bool marked = false;
    m_impl->writing([&] { marked = m_impl->sink.mark(name); });
    return marked;
}

void Recorder::pump(std::chrono::milliseconds timeout)
{
    if (!m_impl->listener)
        return;
    m_impl->writing([&] {
        const int flushMs = m_impl->sink.millisecondsToFlush();
        const int waitMs = static_cast<int>(timeout.count());
        m_impl->waitAndReceive(flushMs < 0 ? waitMs : std::min(waitMs, flushMs));
        m_impl->sink.flushIfDue();
    });
}

void Recorder::drain(std::chrono::milliseconds timeout)
{
    const auto end = std::chrono::steady_clock::now() + timeout;
    do {
        pump(std::chrono::milliseconds(10));
    } while (hasProducers() && std::chrono::steady_clock::now() < end);
}

void Recorder::close()
{
    if (!m_impl->listener)
        return;
    m_impl->writing([&] {
        for (Connection& connection : m_impl->connections)
            m_impl->disconnect(connection, "the recorder was closed");
        m_impl->sink.close();
    });
    m_impl->stop();
}

void Recorder::Impl::stop()
{
    connections.clear();
    listener.reset();
}

void Recorder::Impl::waitAndReceive(int timeoutMs)
{
    std::vector<pollfd> polled;
    for (const Connection& connection : connections)
        polled.push_back({.fd = connection.fd.get(), .events = POLLIN, .revents = 0});
    const bool roomForMore = connections.size() < kMaxProducers;
    if (roomForMore)
        polled.push_back({.fd = listener->fd(), .events = POLLIN, .revents = 0});
    if (::poll(polled.data(), polled.size(), timeoutMs) <= 0)
        return;

    auto ready = polled.begin();
    for (Connection& connection : connections) {
        if ((ready++)->revents != 0)
            receive(connection);
    }
    connections.remove_if([](const Connection& connection) { return !connection.fd.valid(); });
    if (roomForMore && ready->revents != 0)
        acceptProducers();
}

void Recorder::Impl::acceptProducers()
{
    const unsigned strangers = listener->strangers();
    while (connections.size() < kMaxProducers) {
        auto fd = listener->accept();
        if (!fd)
            break;
        connections.emplace_back().fd = std::move(*fd);
    }
    if (listener->strangers() > strangers)
        sink.addDiagnostic({.name = "producer_refused",
                            .severity = Severity::Info,
                            .count = listener->strangers() - strangers,
                            .text = "a process of another user wanted to be recorded"});
}

void Recorder::Impl::receive(Connection& connection)
{
    constexpr int kMaxChunks = 16;  // then the others' turn
    for (int i = 0; i < kMaxChunks && connection.fd.valid(); ++i) {
        const ssize_t got = ::recv(connection.fd.get(), chunk.data(), chunk.size(), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0)
            return disconnect(connection, "the process ended or closed its connection");
        connection.decoder.feed(std::span(chunk).first(static_cast<std::size_t>(got)));
        decode(connection);
    }
}

void Recorder::Impl::decode(Connection& connection)
{
    while (connection.fd.valid()) {
        std::optional<wire::Record> record;
        try {
            record = connection.decoder.next();
        } catch (const Error& malformed) {
            return refuse(connection, malformed.what());
        }
        if (!record)
            return;
        if (const auto* hello = std::get_if<wire::Hello>(&*record))
            greet(connection, *hello);
        else if (std::holds_alternative<wire::Bye>(*record))
            disconnect(connection, "");
        else
            connection.session->accept(*record);
    }
}

void Recorder::Impl::greet(Connection& connection, const wire::Hello& hello)
{
    if (sameToken(token, hello.token)) {
        connection.session.emplace(sink, hello);
        if (standing)
            command(connection, *standing);
    } else {
        refuse(connection, "process " + std::to_string(hello.pid) + " (" + hello.processName +
                               ") showed a wrong token; it was not started by this recording");
    }
}

void Recorder::setRecording(bool wanted)
{
    m_impl->standing = wanted ? wire::Command::Start : wire::Command::Pause;
    for (const Connection& connection : m_impl->connections) {
        if (connection.session)
            m_impl->command(connection, *m_impl->standing);
    }
}

/// A producer that does not take one byte is gone or stuck; either shows in what it sends.
void Recorder::Impl::command(const Connection& connection, wire::Command command)
{
    const char byte = static_cast<char>(command);
    [[maybe_unused]] const ssize_t sent = ::send(connection.fd.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Ends a connection over what its producer did wrong. It matters to the figures only if the producer was being
/// recorded.
void Recorder::Impl::refuse(Connection& connection, const std::string& problem)
{
    const bool recorded = connection.session.has_value();
    sink.addDiagnostic({.name = recorded ? "producer_malformed" : "producer_refused",
                        .severity = recorded ? Severity::DataLoss : Severity::Info,
                        .count = 1,
                        .text = problem});
    disconnect(connection, "the process sent something that is not a record");
}

void Recorder::Impl::disconnect(Connection& connection, const std::string& reason)
{
    connection.fd.reset();
    if (connection.session)
        connection.session->disconnected(reason);
    connection.session.reset();
}

}  // namespace fp8scope::recorder

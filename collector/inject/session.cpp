// SPDX-License-Identifier: Apache-2.0
#include "collector/inject/session.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fp8scope::inject {

namespace {

/// The one session: CUPTI's buffer callbacks have no argument for it.
std::atomic<Session*> theSession{nullptr};

void onBufferRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords)
{
    *buffer = theSession.load()->bufferRequested();
    *size = *buffer != nullptr ? BufferPool::kBufferBytes : 0;
    *maxRecords = 0;
}

void onBufferCompleted(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t used)
{
    if (buffer != nullptr)
        theSession.load()->bufferCompleted({buffer, used});
}

void onCallback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data)
{
    Session& session = *theSession.load();
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
        return session.contextEnds();
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    const bool starts = id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && call->callbackSite == CUPTI_API_EXIT)
        starts ? session.profilerStarts() : session.profilerStops();
}

std::vector<CUpti_ActivityKind> activityKinds(const Options& options)
{
    std::vector<CUpti_ActivityKind> kinds{CUPTI_ACTIVITY_KIND_DEVICE};
    const auto add = [&](wire::RecordKind wanted, std::initializer_list<CUpti_ActivityKind> activities) {
        if (options.kinds.contains(wanted))
            kinds.insert(kinds.end(), activities);
    };
    using enum wire::RecordKind;
    if (options.graphsAsOne)
        add(Kernel, {CUPTI_ACTIVITY_KIND_GRAPH_TRACE});
    add(Kernel, {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    add(Memcpy, {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2});
    add(Memset, {CUPTI_ACTIVITY_KIND_MEMSET});
    add(Runtime, {CUPTI_ACTIVITY_KIND_RUNTIME});
    add(Driver, {CUPTI_ACTIVITY_KIND_DRIVER});
    add(Sync, {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION});
    add(Nvtx, {CUPTI_ACTIVITY_KIND_MARKER});
    add(Overhead, {CUPTI_ACTIVITY_KIND_OVERHEAD});
    add(Memory, {CUPTI_ACTIVITY_KIND_MEMORY2});
    return kinds;
}

/// Signals of the program are for its own threads.
class BlockedSignals {
public:
    BlockedSignals()
    {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &m_old);
    }
    ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &m_old, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
    sigset_t m_old{};
};

wire::RunBegin runOf(const wire::Hello& hello)
{
    return {.mode = hello.rank >= 0 ? "rank " + std::to_string(hello.rank) : hello.processName.substr(0, 80),
            .origin = Origin::MeasuredGpu,
            .configToml = {},
            .planText = {},
            .tool = "fp8scope collect",
            .startNs = ClockPair::now().monotonicNs};
}

std::size_t bufferCount(const Options& options) { return options.maxBufferBytes / BufferPool::kBufferBytes; }

}  // namespace

Session::Session(CuptiTable cupti, Options options)
    : m_cupti(cupti), m_options(std::move(options)), m_pool(bufferCount(m_options), m_cupti.mayRefuseBuffers()),
      m_outbox(m_options.socket), m_translator(m_cupti, m_encoder, runOf(helloOf(m_options))),
      m_wakeFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    m_encoder.append(helloOf(m_options));
}

CUptiResult Session::subscribe()
{
    CUpti_SubscriberHandle subscriber = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    if (m_cupti.subscribe2 != nullptr) {
        char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
        CUpti_SubscriberParams parameters{};
        parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
        parameters.subscriberName = "fp8scope";
        parameters.oldSubscriberName = holder;
        parameters.oldSubscriberSize = sizeof holder;
        result = m_cupti.subscribe2(&subscriber, onCallback, nullptr, &parameters);
        m_holder = holder;
    } else {
        result = m_cupti.subscribe(&subscriber, onCallback, nullptr);
    }
    if (result != CUPTI_SUCCESS)
        return result;
    // Without these a flush comes later, or a range is not followed: nothing that a recording fails for.
    m_cupti.enableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
    m_cupti.enableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
    m_cupti.enableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
    return CUPTI_SUCCESS;
}

std::string Session::refusal(CUptiResult result)
{
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return "another profiler (" + (m_holder.empty() ? std::string("nsys, ncu or torch.profiler") : m_holder) +
               ") holds CUPTI in this process, so nothing was recorded; turn it off, or open its trace in fp8scope "
               "instead";
    return "CUPTI could not be started: " + m_cupti.describe(result) +
           "; check that the driver is not older than this CUPTI's CUDA";
}

bool Session::start()
{
    theSession = this;
    CUptiResult result = subscribe();
    if (result == CUPTI_SUCCESS && m_cupti.setThreadIdType != nullptr)
        m_cupti.setThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (result == CUPTI_SUCCESS)
        result = m_cupti.registerCallbacks(onBufferRequested, onBufferCompleted);
    if (result != CUPTI_SUCCESS) {
        complain("cupti_refused", refusal(result));
        return false;
    }
    if (m_options.startAt == StartAt::Once)
        setRecording(true);
    const BlockedSignals blocked;
    m_drainer = std::thread([this] { drainLoop(); });
    return true;
}

void Session::complain(const char* name, const std::string& sentence)
{
    m_encoder.append(wire::Diagnostic{name, Severity::Error, 1, sentence});
    m_encoder.append(wire::Bye{});
    sendEncoded();
}

void Session::setRecording(bool wanted)
{
    const std::lock_guard lock(m_recordingMutex);
    if (m_recording == wanted || m_abandoned)
        return;
    m_recording = wanted;
    for (const CUpti_ActivityKind kind : activityKinds(m_options))
        wanted ? m_cupti.enable(kind) : m_cupti.disable(kind);  // a kind that this GPU lacks is only missing
}

void Session::bufferCompleted(FullBuffer buffer)
{
    m_pool.complete(buffer);
    wake();
}

void Session::wake()
{
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(m_wakeFd, &one, sizeof one);
}

void Session::contextEnds()
{
    if (!m_abandoned)
        m_cupti.flushAll(0);
}

void Session::profilerStarts()
{
    if (m_options.startAt == StartAt::CudaProfiler)
        setRecording(true);
}

void Session::profilerStops()
{
    if (m_abandoned)
        return;
    m_cupti.flushAll(0);
    if (m_options.startAt == StartAt::CudaProfiler)
        setRecording(false);
}

void Session::drainLoop()
{
    ::pthread_setname_np(::pthread_self(), "fp8scope");
    std::int64_t flushDueNs = ClockPair::now().monotonicNs;
    while (!m_stop) {
        const std::int64_t leftNs = flushDueNs - ClockPair::now().monotonicNs;
        waitForWork(leftNs > 0 ? static_cast<int>(leftNs / 1'000'000) + 1 : 0);
        obey();
        if (ClockPair::now().monotonicNs >= flushDueNs) {
            flushDueNs = ClockPair::now().monotonicNs + std::int64_t{kFlushMs} * 1'000'000;
            m_cupti.flushAll(0);
        }
        drainFull();
    }
}

void Session::waitForWork(int timeoutMs)
{
    const short events = m_outbox.waiting() ? POLLIN | POLLOUT : POLLIN;
    pollfd waits[] = {{m_wakeFd, POLLIN, 0}, {m_outbox.fd(), events, 0}};
    ::poll(waits, 2, timeoutMs);
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(m_wakeFd, &count, sizeof count);
}

void Session::obey()
{
    while (const auto command = m_outbox.receive()) {
        if (*command == wire::Command::Pause)
            m_cupti.flushAll(0);
        setRecording(*command == wire::Command::Start);
    }
    if (m_outbox.lost())
        setRecording(false);  // nobody listens any more: stop costing
}

void Session::drainFull()
{
    const ClockPair clock = ClockPair::now();
    for (const FullBuffer& buffer : m_pool.takeFull()) {
        if (!m_outbox.lost() && m_outbox.hasRoom())
            m_translator.translate(buffer.bytes, buffer.used, clock);
        else if (!m_outbox.lost())
            m_translator.drop(buffer.bytes, buffer.used);
        m_pool.release(buffer.bytes);
        m_translator.endBatch();
        sendEncoded();
    }
    std::size_t dropped = 0;
    if (m_cupti.getNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS && dropped > 0)
        m_translator.noteDroppedByCupti(dropped);
    m_translator.endBatch();
    sendEncoded();
}

void Session::sendEncoded()
{
    m_outbox.put(m_encoder.bytes());
    m_encoder.clear();
    m_outbox.send();
}

void Session::finish()
{
    if (m_abandoned || m_stop.exchange(true))
        return;
    wake();
    m_drainer.join();
    m_cupti.flushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    drainFull();
    m_translator.finish(ClockPair::now().monotonicNs);
    m_encoder.append(wire::Bye{});
    sendEncoded();
    constexpr std::int64_t kPatienceNs = 5'000'000'000;
    const std::int64_t endNs = ClockPair::now().monotonicNs + kPatienceNs;
    for (; m_outbox.waiting() && ClockPair::now().monotonicNs < endNs; m_outbox.send())
        waitForWork(50);
}

void Session::abandon()
{
    m_abandoned = true;
    m_stop = true;
    m_outbox.close();
}

}  // namespace fp8scope::inject

// SPDX-License-Identifier: Apache-2.0
// Written as Kineto writes: by joining strings, one event after another, with each generation's own names.
#include "tests/support/kineto_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace fp8scope::test {
namespace {

bool before(KinetoGeneration a, KinetoGeneration b) { return a < b; }

bool wholeMicroseconds(KinetoGeneration g) { return before(g, KinetoGeneration::April2024); }

/// Categories and keys that changed over the years.
struct Spelling {
    std::string_view op, kernel, memcpy, memset, runtime, driver, annotation, flow, flowName, externalId, dims;
};
Spelling spellingOf(KinetoGeneration g)
{
    if (g == KinetoGeneration::Early2021)
        return {"Operator", "Kernel", "Memcpy", "Memset",      "Runtime",   "Runtime",
                "Operator", "async",  "launch", "external id", "Input dims"};
    const std::string_view flow = g == KinetoGeneration::Pytorch2022 ? "async_cpu_to_gpu" : "ac2g";
    return {"cpu_op",          "kernel",       "gpu_memcpy",
            "gpu_memset",      "cuda_runtime", before(g, KinetoGeneration::Pytorch2_4) ? "cuda_runtime" : "cuda_driver",
            "user_annotation", flow,           flow,
            "External id",     "Input Dims"};
}

class EventsWriter {
public:
    explicit EventsWriter(const KinetoFile& file) : m_file(file), m_spelling(spellingOf(file.generation)) {}

    std::string write()
    {
        const ProfiledLoop loop = makeProfiledLoop(loopOf(m_file));
        if (m_file.generation == KinetoGeneration::Y2026)
            metadata();
        for (const ProfiledRange& range : loop.ranges)
            writeRange(range);
        for (const ProfiledOp& op : loop.ops)
            writeOp(op);
        if (onGpu()) {
            for (const ProfiledCall& call : loop.calls)
                writeCall(call);
            for (const ProfiledWork& work : loop.work)
                writeWork(work);
        }
        if (m_file.generation == KinetoGeneration::Y2026 && !loop.work.empty())
            counter(loop.work.front().startNs);
        if (m_file.generation != KinetoGeneration::Y2026)
            metadata();
        closing(loop);
        return std::move(m_out);
    }

private:
    static constexpr std::uint32_t kBackwardTid = 4243;
    bool onGpu() const { return m_file.generation != KinetoGeneration::CpuOnly; }

    std::string tid(ProfiledThread thread) const
    {
        const std::uint32_t id = thread == ProfiledThread::Main ? m_file.pid : kBackwardTid;
        return m_file.generation == KinetoGeneration::Early2021 ? fmt::format("\"{}\"", id) : fmt::to_string(id);
    }
    std::string stream(std::uint32_t id) const
    {
        return m_file.generation == KinetoGeneration::Early2021 ? fmt::format("\"stream {}\"", id) : fmt::to_string(id);
    }
    static std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }
    std::string ts(std::int64_t ns) const
    {
        if (wholeMicroseconds(m_file.generation))
            return fmt::to_string((kKinetoBaseNs + ns) / 1000);
        return microseconds(m_file.generation == KinetoGeneration::April2024 ? kKinetoBaseNs + ns : ns);
    }
    std::string dur(std::int64_t ns) const
    {
        return wholeMicroseconds(m_file.generation) ? fmt::to_string(ns / 1000) : microseconds(ns);
    }

    void event(const std::string& text)
    {
        if (!m_out.empty())
            m_out += ",\n";
        m_out += "  {\n    " + text + "\n  }";
    }
    void complete(std::string_view cat, std::string_view name, std::string_view pid, std::string_view tid,
                  std::int64_t startNs, std::int64_t durNs, const std::string& args)
    {
        event(fmt::format(
            "\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    \"ts\": {}, \"dur\": "
            "{},\n    \"args\": {{\n      {}\n    }}",
            cat, name, pid, tid, ts(startNs), dur(durNs), args));
    }
    void flow(char phase, std::string_view cat, std::string_view name, std::uint64_t id, std::string_view pid,
              std::string_view tid, std::int64_t atNs)
    {
        event(fmt::format(
            "\"ph\": \"{}\", \"id\": {}, \"pid\": {}, \"tid\": {}, \"ts\": {},\n    \"cat\": \"{}\", \"name\": "
            "\"{}\"{}",
            phase, id, pid, tid, ts(atNs), cat, name, phase == 'f' ? ", \"bp\": \"e\"" : ""));
    }

    void writeRange(const ProfiledRange& range)
    {
        const std::string pid = fmt::to_string(m_file.pid);
        const bool frames = !before(m_file.generation, KinetoGeneration::Pytorch2023);
        if (range.module && !frames)
            return;  // older writers had no Python frames
        if (range.module)
            complete("python_function", "nn.Module: " + range.name, pid, tid(ProfiledThread::Main), range.startNs,
                     range.durNs,
                     fmt::format(
                         "\"Python id\": {0}, \"Python parent id\": null, \"Python module id\": {0}, \"Ev Idx\": {0}",
                         ++m_frames));
        else
            complete(m_spelling.annotation, range.name, pid, tid(ProfiledThread::Main), range.startNs, range.durNs,
                     fmt::format("\"{}\": 0", m_spelling.externalId));
    }

    void writeOp(const ProfiledOp& op)
    {
        std::string args = fmt::format("\"{}\": {}", m_spelling.externalId, op.externalId);
        if (op.sequence >= 0)
            args += fmt::format(", \"Sequence number\": {}, \"Fwd thread id\": {}", op.sequence,
                                op.thread == ProfiledThread::Backward ? 1 : 0);
        args += fmt::format(", \"{}\": {}, \"Input type\": {}", m_spelling.dims, op.dims, op.types);
        const std::string pid = fmt::to_string(m_file.pid);
        complete(m_spelling.op, op.name, pid, tid(op.thread), op.startNs, op.durNs, args);
        if (op.sequence < 0 || before(m_file.generation, KinetoGeneration::Pytorch2023))
            return;
        const bool backward = op.thread == ProfiledThread::Backward;
        flow(backward ? 'f' : 's', "fwdbwd", "fwdbwd", static_cast<std::uint64_t>(op.sequence), pid, tid(op.thread),
             op.startNs);
    }

    std::string callName(const ProfiledCall& call) const
    {
        std::string name(call.name);
        if (m_file.generation != KinetoGeneration::Rocm)
            return name;
        return call.driver ? "hipExtModuleLaunchKernel" : "hip" + name.substr(4);
    }

    void writeCall(const ProfiledCall& call)
    {
        const std::string pid = fmt::to_string(m_file.pid);
        complete(call.driver ? m_spelling.driver : m_spelling.runtime, callName(call), pid, tid(call.thread),
                 call.startNs, call.durNs,
                 fmt::format("\"{}\": {}, \"{}\": {}, \"correlation\": {}", m_spelling.externalId, call.externalId,
                             m_file.generation == KinetoGeneration::Rocm ? "cid" : "cbid", 211, call.correlation));
        flow('s', m_spelling.flow, m_spelling.flowName, call.correlation, pid, tid(call.thread), call.startNs);
    }

    std::string workArgs(const ProfiledWork& work) const
    {
        std::string args =
            fmt::format("\"device\": 0, \"stream\": {}, \"correlation\": {}", work.stream, work.correlation);
        if (m_file.generation == KinetoGeneration::Rocm)
            return args + ", \"kind\": \"Dispatch Kernel\"";
        args += fmt::format(", \"context\": 1, \"{}\": {}", m_spelling.externalId, work.externalId);
        if (work.kind != NameKind::Kernel)
            return args + fmt::format(", \"bytes\": {}, \"memory bandwidth (GB/s)\": {:.3f}", work.bytes,
                                      static_cast<double>(work.bytes) / static_cast<double>(work.durNs));
        const LaunchShape& s = work.shape;
        args += fmt::format(
            ", \"registers per thread\": {}, \"shared memory\": {}, \"grid\": [{}, {}, {}], \"block\": [{}, {}, {}]",
            s.registers, s.staticShared + s.dynamicShared, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1],
            s.block[2]);
        if (m_file.generation == KinetoGeneration::Y2026)
            args += ", \"occupancy\": {\"activeBlocksPerMultiprocessor\": 1, \"limitingFactors\": \"SMEM|REGS\"}, "
                    "\"graph id\": 0";
        return args;
    }

    void writeWork(const ProfiledWork& work)
    {
        const std::string_view cat = work.kind == NameKind::Kernel   ? m_spelling.kernel
                                     : work.kind == NameKind::Memcpy ? m_spelling.memcpy
                                                                     : m_spelling.memset;
        complete(cat, work.name, "0", stream(work.stream), work.startNs, work.durNs, workArgs(work));
        flow('f', m_spelling.flow, m_spelling.flowName, work.correlation, "0", stream(work.stream), work.startNs);
    }

    void counter(std::int64_t atNs)
    {
        event(fmt::format(
            "\"ph\": \"C\", \"cat\": \"hardware_counters\", \"name\": \"SMs Active\", \"pid\": \"GPU 0 Counters\", "
            "\"tid\": 0,\n    \"ts\": {}, \"args\": {{\"\": 87.5}}",
            ts(atNs)));
    }

    void name(std::string_view what, std::string_view pid, std::string_view tid, std::string_view key,
              std::string_view value)
    {
        event(fmt::format(
            "\"name\": \"{}\", \"ph\": \"M\", \"ts\": {}, \"pid\": {}, \"tid\": {},\n    \"args\": {{\"{}\": "
            "\"{}\"}}",
            what, ts(0), pid, tid, key, value));
    }
    void metadata()
    {
        const std::string pid = fmt::to_string(m_file.pid);
        const std::string main = tid(ProfiledThread::Main);
        const std::string backward = tid(ProfiledThread::Backward);
        name("process_name", pid, "0", "name", "python3");
        name("process_labels", pid, "0", "labels", "CPU");
        name("thread_name", pid, main, "name", fmt::format("thread {} (python3)", m_file.pid));
        name("thread_name", pid, backward, "name", fmt::format("thread {} (pt_autograd_0)", kBackwardTid));
        for (int gpu = 0; gpu < 8; ++gpu) {  // Kineto names eight GPUs wherever it runs
            name("process_name", fmt::to_string(gpu), "0", "name", "python3");
            name("process_labels", fmt::to_string(gpu), "0", "labels", fmt::format("GPU {}", gpu));
        }
        for (const std::uint32_t id : {7U, 20U})
            name("thread_name", "0", stream(id), "name", fmt::format("stream {} ", id));
    }

    void closing(const ProfiledLoop& loop)
    {
        const std::int64_t end =
            loop.ranges.empty() ? 1'000'000 : loop.ranges.back().startNs + loop.ranges.back().durNs + 10'000'000;
        event(fmt::format(
            "\"ph\": \"X\", \"cat\": \"Trace\", \"ts\": {}, \"dur\": {},\n    \"pid\": \"Spans\", \"tid\": \"PyTorch "
            "Profiler\",\n    \"name\": \"PyTorch Profiler (0)\",\n    \"args\": {{\"Op count\": 0}}",
            ts(0), dur(end)));
        event(fmt::format("\"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", \"tid\": "
                          "\"\", \"ts\": {}",
                          ts(end)));
    }

    const KinetoFile& m_file;
    Spelling m_spelling;
    std::string m_out;
    std::uint64_t m_frames = 0;
};

std::string deviceProperties(KinetoGeneration g)
{
    if (g == KinetoGeneration::CpuOnly)
        return "\"deviceProperties\": [\n  ]";
    const bool amd = g == KinetoGeneration::Rocm;
    return fmt::format(
        "\"deviceProperties\": [\n    {{\n      \"id\": 0, \"name\": \"{}\", \"totalGlobalMem\": 85899345920,\n      "
        "\"computeMajor\": 9, \"computeMinor\": {},\n      \"warpSize\": {}, \"numSms\": {}\n    }}\n  ]",
        amd ? "AMD Instinct MI300X" : "NVIDIA H100 80GB HBM3", amd ? 4 : 0, amd ? 64 : 32, amd ? 304 : 132);
}

}  // namespace

std::string_view toString(KinetoGeneration generation)
{
    constexpr std::string_view names[] = {"Early2021",  "Pytorch2022", "Pytorch2023", "April2024",
                                          "Pytorch2_4", "Y2026",       "Rocm",        "CpuOnly"};
    return names[static_cast<std::size_t>(generation)];
}

ProfiledLoopShape loopOf(const KinetoFile& file)
{
    ProfiledLoopShape shape = file.loop;
    shape.grainNs = wholeMicroseconds(file.generation) ? 1000 : 1;
    return shape;
}

std::string kinetoJson(const KinetoFile& file)
{
    std::string events = EventsWriter(file).write();
    if (file.bareArray)
        return "[\n" + events + "\n  ]\n";
    std::string keys = "\"schemaVersion\": 1";
    if (file.generation != KinetoGeneration::Early2021)
        keys += ",\n  " + deviceProperties(file.generation);
    if (file.rank >= 0)
        keys += fmt::format(",\n  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": 2}}",
                            file.rank);
    if (!before(file.generation, KinetoGeneration::Pytorch2_4))
        keys += fmt::format(",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": {}", kKinetoBaseNs);
    const std::string array = "\"traceEvents\": [\n" + std::move(events) + "\n  ]";
    return file.eventsFirst ? "{\n  " + array + ",\n  " + keys + "\n}\n" : "\n{\n  " + keys + ",\n  " + array + "\n}\n";
}

std::string_view toString(KinetoDamage damage)
{
    constexpr std::string_view names[] = {"CutInAnEvent", "NoClosingBracket", "TrailingComma", "EmptyLastEvent",
                                          "Backslash",    "ControlCharacter", "NotUtf8"};
    return names[static_cast<std::size_t>(damage)];
}

std::string damaged(std::string json, KinetoDamage damage)
{
    const std::size_t end = json.rfind("\n  ]");
    const std::string_view name = "aten::zero_";
    const std::size_t at = json.find(name);
    switch (damage) {
    case KinetoDamage::CutInAnEvent: return json.substr(0, json.rfind("\"dur\"") + 3);
    case KinetoDamage::NoClosingBracket: return json.substr(0, end);
    case KinetoDamage::TrailingComma: return json.insert(end, ",");
    case KinetoDamage::EmptyLastEvent: return json.insert(end, ",\n  {}");
    case KinetoDamage::Backslash: return json.replace(at, name.size(), "C:\\python\\x.py(3): zero");
    case KinetoDamage::ControlCharacter: return json.replace(at, name.size(), "zero\n\x01the grad");
    case KinetoDamage::NotUtf8: return json.replace(at, name.size(), "zero\xff");
    }
    return json;
}

}  // namespace fp8scope::test

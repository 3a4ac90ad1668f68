// SPDX-License-Identifier: Apache-2.0
// Files that people open by mistake, and what they can do instead.
#include "collector/import/content.h"

#include <algorithm>

namespace fp8scope::import {
namespace {

struct Signature {
    std::string_view bytes;
    const char* what;
    const char* mend;
};

using namespace std::string_view_literals;

constexpr Signature kSignatures[] = {
    {"version https://git-lfs.github.com/spec/"sv, "a Git LFS pointer, not the file itself",
     "fetch the file with `git lfs pull`"},
    {"PK\x03\x04"sv, "a zip archive", "unzip it and open what is inside"},
    {"\xfd"
     "7zXZ"sv,
     "an xz file", "decompress it with `xz -d`"},
    {"\x28\xb5\x2f\xfd"sv, "a zstd file", "decompress it with `zstd -d`"},
    {"BZh"sv, "a bzip2 file", "decompress it with `bunzip2`"},
    {"\x80\x02"sv, "a Python pickle, perhaps a memory snapshot of PyTorch",
     "a snapshot is shown by https://pytorch.org/memory_viz; a trace is written by export_chrome_trace()"},
    {"\x80\x04"sv, "a Python pickle, perhaps a memory snapshot of PyTorch",
     "a snapshot is shown by https://pytorch.org/memory_viz; a trace is written by export_chrome_trace()"},
    {"\x80\x05"sv, "a Python pickle, perhaps a memory snapshot of PyTorch",
     "a snapshot is shown by https://pytorch.org/memory_viz; a trace is written by export_chrome_trace()"},
    {"NVPROF"sv, "a file of nvprof", "profile again with `nsys profile` or PyTorch's profiler"},
    {"NVR\0"sv, "a report of Nsight Compute",
     "it holds counters of single kernels; record a timeline with `nsys profile`"},
    {"\x7f"
     "ELF"sv,
     "a program", "open the trace that it wrote"},
    {"%PDF"sv, "a PDF file", "open the trace that it reports on"},
    {"\x89PNG"sv, "a picture", "open the trace that it shows"},
};

bool isText(std::string_view head)
{
    return std::none_of(head.begin(), head.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
    });
}

bool contains(std::string_view text, std::string_view what) { return text.find(what) != std::string_view::npos; }

Recognized neighbour(const char* what, const char* mend) { return {FileKind::Neighbour, false, what, mend}; }

}  // namespace

Recognized recognizeNeighbour(std::string_view head)
{
    for (const Signature& signature : kSignatures) {
        if (head.starts_with(signature.bytes))
            return neighbour(signature.what, signature.mend);
    }
    // Field 1 of a protocol buffer, a message: what JAX's XSpace and Perfetto's traces begin with.
    if (head.starts_with('\x0a') && !isText(head)) {
        if (contains(head, "/host:") || contains(head, "/device:"))
            return neighbour("an XPlane profile (JAX, TensorFlow)",
                             "open the trace.json.gz that lies beside it, or convert it with xprof");
        return neighbour("a protocol buffer, perhaps a trace of Perfetto",
                         "open it at https://ui.perfetto.dev; fp8scope reads the JSON that PyTorch's profiler writes");
    }
    const std::size_t first = head.find_first_not_of(" \n\r\t");
    const std::string_view text = first == std::string_view::npos ? std::string_view() : head.substr(first);
    if (text.starts_with('<') && isText(head))
        return neighbour("a web page", "download the file again; a page that asks to log in often comes in its place");
    if (isText(head))
        return {FileKind::Unknown, false, "plain text", "see `fp8scope import --help` for what can be opened"};
    return {};
}

Recognized recognizeJsonNeighbour(const std::vector<std::string>& keys)
{
    const auto has = [&](std::string_view key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
    if (has("rocprofiler-sdk-tool"))
        return neighbour("JSON of rocprofiler-sdk (rocprofv3)",
                         "record again with PyTorch's profiler, which also works on ROCm");
    if (has("schema") && has("nodes"))
        return neighbour("an execution trace of PyTorch (a graph of operators without a timeline)",
                         "open the trace that torch.profiler's export_chrome_trace() wrote in the same run");
    if (has("segments") || has("device_traces"))
        return neighbour("a memory snapshot of PyTorch", "it is shown by https://pytorch.org/memory_viz");
    if (has("nodes") && has("samples") && has("timeDeltas"))
        return neighbour("a CPU profile of a JavaScript engine", "it is shown by https://speedscope.app");
    if (has("shared") && has("profiles"))
        return neighbour("a profile of speedscope", "it is shown by https://speedscope.app");
    return {FileKind::Unknown, false, "JSON without trace events",
            "open the trace that torch.profiler's export_chrome_trace() wrote"};
}

}  // namespace fp8scope::import

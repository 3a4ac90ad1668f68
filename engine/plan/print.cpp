// SPDX-License-Identifier: Apache-2.0
// A plan as text for people: what each layer does and why, every op with its operands, every tensor with its place.
#include "engine/plan/step_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace fp8scope::plan {
namespace {

using Text = fmt::memory_buffer;

template <typename... Args>
void append(Text& text, fmt::format_string<Args...> format, Args&&... args)
{
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

/// "1.50 k": three significant digits with an SI prefix.
std::string siNumber(double value)
{
    constexpr std::array kPrefixes{"", " k", " M", " G", " T", " P"};
    std::size_t prefix = 0;
    while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
        value /= 1000;
        ++prefix;
    }
    if (prefix == 0)
        return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, kPrefixes[prefix]);
}

std::string rolesOf(const Op& op)
{
    std::string text(toString(op.role));
    for (int r = 0; r < kRoleCount; ++r) {
        if (op.fused.contains(static_cast<Role>(r)))
            text += fmt::format("+{}", toString(static_cast<Role>(r)));
    }
    return text;
}

std::string shapeOf(const Op& op)
{
    return op.gemm ? fmt::format("{} x {} x {}", op.m, op.n, op.k) : fmt::format("{} x {}", op.m, op.n);
}

std::string namesOf(const StepPlan& plan, const std::vector<TensorId>& ids)
{
    std::string text;
    for (const TensorId id : ids) {
        if (id.valid())
            text += fmt::format("{}{}", text.empty() ? "" : ", ", plan.tensor(id).name);
    }
    return text;
}

/// What cuBLASLt is told, in short: "TN e4m3 e4m3 bf16 bias fast".
std::string gemmNote(const Op& op)
{
    if (!op.gemm)
        return {};
    const GemmCall& call = *op.gemm;
    const bool tensorWide = call.aScaleMode == ScaleMode::Scalar32F || call.aScaleMode == ScaleMode::None;
    const std::string scales =
        tensorWide ? std::string() : fmt::format(" scales {} {}", toString(call.aScaleMode), toString(call.bScaleMode));
    const std::string epilogue =
        call.epilogue == Epilogue::None ? std::string() : fmt::format(" {}", toString(call.epilogue));
    return fmt::format("  [{}{} {} {} {}{}{}{}]", call.transA ? 'T' : 'N', call.transB ? 'T' : 'N',
                       toString(call.a.type), toString(call.b.type), toString(call.d.type), scales, epilogue,
                       call.fastAccumulation ? " fast" : "");
}

/// A table whose columns are as wide as their widest cell; the last one is left as it is.
class Columns {
public:
    explicit Columns(std::vector<std::string> head, std::vector<bool> right) : m_right(std::move(right))
    {
        add(std::move(head));
    }

    void add(std::vector<std::string> cells)
    {
        m_widths.resize(cells.size(), 0);
        for (std::size_t c = 0; c < cells.size(); ++c)
            m_widths[c] = std::max(m_widths[c], cells[c].size());
        m_rows.push_back(std::move(cells));
    }

    void print(Text& text) const
    {
        for (const auto& cells : m_rows) {
            std::string line;
            for (std::size_t c = 0; c < cells.size(); ++c)
                line += m_right[c] ? fmt::format("  {:>{}}", cells[c], m_widths[c])
                                   : fmt::format("  {:<{}}", cells[c], m_widths[c]);
            append(text, "{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
        }
    }

private:
    std::vector<bool> m_right;
    std::vector<std::size_t> m_widths;
    std::vector<std::vector<std::string>> m_rows;
};

/// "9.0" or "8.9, 9.0, 10.0".
std::string capabilitiesOf(const StepPlan& plan)
{
    std::string list;
    for (const int capability : computeCapabilities(plan))
        list += fmt::format("{}{}.{}", list.empty() ? "" : ", ", capability / 10, capability % 10);
    return list.empty() ? "none" : list;
}

void printHead(Text& text, const StepPlan& plan)
{
    double flops = 0, bytes = 0;
    for (const Op& op : plan.ops) {
        flops += op.flops;
        bytes += static_cast<double>(op.bytes);
    }
    append(text, "plan '{}', mode {}", plan.config.name, plan.settings.mode);
    if (plan.settings.fp8)
        append(text, ", recipe {}", toString(plan.config.recipe.kind));
    append(text, ": {} {}, {} ops a step, {}FLOP, at least {}B moved, arena {}B\n", plan.layers.size(),
           plan.layers.size() == 1 ? "layer" : "layers", plan.ops.size(), siNumber(flops), siNumber(bytes),
           siNumber(static_cast<double>(plan.arenaBytes)));
    append(text, "fusions:");
    bool any = false;
    for (const FusionSwitch& fusion : fusionSwitches()) {
        if (plan.settings.fusions.*fusion.member) {
            append(text, " {}", fusion.name);
            any = true;
        }
    }
    append(text, "{}\n", any ? "" : " none");
    append(text, "cuBLASLt runs its GEMMs on compute capability {}\n", capabilitiesOf(plan));
    if (plan.settings.fusions.graph)
        append(text, "graph: a GPU launches the step as one CUDA graph; a CPU has no launches to save\n");
}

void printLayers(Text& text, const StepPlan& plan)
{
    Columns table({"layer", "in", "out", "runs in", "because"}, {false, true, true, false, false});
    for (const LayerPlan& layer : plan.layers)
        table.add({layer.name, std::to_string(layer.inFeatures), std::to_string(layer.outFeatures),
                   layer.fp8 ? "fp8" : "bf16", layer.reason});
    append(text, "\nlayers\n");
    table.print(text);
}

void printOps(Text& text, const StepPlan& plan)
{
    Columns table({"#", "op", "phase", "role", "shape", "FLOP", "bytes", "operands"},
                  {true, false, false, false, true, true, true, false});
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        const Op& op = plan.ops[i];
        table.add({std::to_string(i), op.name, std::string(toString(op.phase)), rolesOf(op), shapeOf(op),
                   siNumber(op.flops), siNumber(static_cast<double>(op.bytes)),
                   fmt::format("{}{}-> {}{}", namesOf(plan, op.inputs), op.inputs.empty() ? "" : " ",
                               namesOf(plan, op.outputs), gemmNote(op))});
    }
    append(text, "\nops\n");
    table.print(text);
}

std::string lifetimeOf(const StepPlan& plan, const Tensor& tensor)
{
    if (tensor.viewOf.valid())
        return fmt::format("in {}", plan.tensor(tensor.viewOf).name);
    return tensor.persistent ? "always" : fmt::format("{}..{}", tensor.firstUse, tensor.lastUse);
}

void printTensors(Text& text, const StepPlan& plan)
{
    Columns table({"tensor", "type", "shape", "class", "live", "offset", "bytes"},
                  {false, false, true, false, false, true, true});
    for (const Tensor& tensor : plan.tensors)
        table.add({tensor.name, std::string(toString(tensor.type)), fmt::format("{} x {}", tensor.rows, tensor.cols),
                   std::string(toString(tensor.cls)), lifetimeOf(plan, tensor), std::to_string(tensor.offset),
                   std::to_string(tensor.bytes())});
    append(text, "\ntensors\n");
    table.print(text);
}

void printMemory(Text& text, const StepPlan& plan)
{
    Columns table({"memory in bytes", "at its own peak", "at the step's peak"}, {false, true, true});
    const std::vector<MemoryUse> own = memoryByClass(plan), together = memoryAtPeak(plan);
    std::size_t sum = 0;
    for (std::size_t c = 0; c < own.size(); ++c) {
        table.add({own[c].name, std::to_string(own[c].bytes), std::to_string(together[c].bytes)});
        sum += together[c].bytes;
    }
    table.add({"arena (bytes shared over time)", std::to_string(plan.arenaBytes), std::to_string(sum)});
    append(text, "\n");
    table.print(text);
}

}  // namespace

std::string print(const StepPlan& plan)
{
    Text text;
    printHead(text, plan);
    printLayers(text, plan);
    printOps(text, plan);
    printTensors(text, plan);
    printMemory(text, plan);
    return fmt::to_string(text);
}

}  // namespace fp8scope::plan

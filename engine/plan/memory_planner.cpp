// SPDX-License-Identifier: Apache-2.0
// Lifetimes from the ops, persistent tensors one after the other, the rest packed above them.
#include "engine/plan/memory_planner.h"

#include "engine/plan/block_packing.h"

#include <algorithm>
#include <array>

namespace fp8scope::plan {
namespace {

constexpr std::size_t kAlignment = 256;  // what cuBLASLt's heuristic assumes by default, and its rule for workspaces

std::size_t arenaBytesOf(const Tensor& tensor) { return (tensor.bytes() + kAlignment - 1) / kAlignment * kAlignment; }

bool isPacked(const Tensor& tensor) { return !tensor.persistent && !tensor.viewOf.valid(); }

void findLifetimes(StepPlan& plan)
{
    const auto touch = [&](TensorId id, int op) {
        while (id.valid()) {
            Tensor& tensor = plan.tensors[id.value];
            if (tensor.firstUse < 0)
                tensor.firstUse = op;
            tensor.lastUse = std::max(tensor.lastUse, op);
            id = tensor.viewOf;
        }
    };
    for (Tensor& tensor : plan.tensors)
        tensor.firstUse = tensor.lastUse = -1;
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        for (const TensorId id : plan.ops[i].inputs)
            touch(id, static_cast<int>(i));
        for (const TensorId id : plan.ops[i].outputs)
            touch(id, static_cast<int>(i));
    }
    const int last = static_cast<int>(plan.ops.size()) - 1;
    touch(plan.loss, last);
    for (const QuantizedTensor& entry : plan.quantized) {
        touch(entry.amax, last);
        touch(entry.scale, last);
    }
}

std::size_t placeOneAfterTheOther(StepPlan& plan, bool all)
{
    std::size_t top = 0;
    for (Tensor& tensor : plan.tensors) {
        if (tensor.viewOf.valid() || !(tensor.persistent || all))
            continue;
        tensor.offset = top;
        top += arenaBytesOf(tensor);
    }
    return top;
}

std::vector<Block> transientBlocks(const StepPlan& plan)
{
    std::vector<Block> blocks;
    blocks.reserve(plan.tensors.size());
    for (const Tensor& tensor : plan.tensors) {
        if (isPacked(tensor))
            blocks.push_back({tensor.firstUse, tensor.lastUse, arenaBytesOf(tensor)});
    }
    return blocks;
}

std::size_t placeTransients(StepPlan& plan, std::size_t base)
{
    std::vector<Block> blocks = transientBlocks(plan);
    const std::size_t height = packBlocks(blocks, static_cast<int>(plan.ops.size()), kAlignment);
    auto block = blocks.begin();
    for (Tensor& tensor : plan.tensors) {
        if (isPacked(tensor))
            tensor.offset = base + (block++)->offset;
    }
    return base + height;
}

}  // namespace

void planMemory(StepPlan& plan, const PlanOptions& options)
{
    findLifetimes(plan);
    plan.arenaBytes = placeOneAfterTheOther(plan, options.keepTensors);
    if (!options.keepTensors)
        plan.arenaBytes = placeTransients(plan, plan.arenaBytes);
    for (Tensor& tensor : plan.tensors) {
        if (tensor.viewOf.valid())
            tensor.offset = plan.tensor(tensor.viewOf).offset + tensor.viewBytes;
    }
}

std::size_t lifetimeLowerBound(const StepPlan& plan)
{
    std::size_t persistent = 0;
    for (const Tensor& tensor : plan.tensors)
        persistent += tensor.persistent && !tensor.viewOf.valid() ? arenaBytesOf(tensor) : 0;
    return persistent + mostBytesAtOnce(transientBlocks(plan), static_cast<int>(plan.ops.size()));
}

}  // namespace fp8scope::plan

// SPDX-License-Identifier: Apache-2.0
// Lifetimes from the ops, then best fit along the step's time.
#include "engine/plan/memory_planner.h"

#include <algorithm>
#include <map>
#include <set>

namespace fp8scope::plan {
namespace {

constexpr std::size_t kAlignment = 256;  // cuBLASLt's workspace rule and default heuristic assumption

std::size_t arenaBytesOf(const Tensor& tensor) { return (tensor.bytes() + kAlignment - 1) / kAlignment * kAlignment; }

/// Free gaps of the arena below its top, by offset and by size.
class Arena {
public:
    std::size_t take(std::size_t bytes)
    {
        const auto fit = m_bySize.lower_bound({bytes, 0});
        if (fit == m_bySize.end())
            return growFor(bytes);
        const auto [gapBytes, offset] = *fit;
        removeGap(offset, gapBytes);
        if (gapBytes > bytes)
            addGap(offset + bytes, gapBytes - bytes);
        return offset;
    }

    void release(std::size_t offset, std::size_t bytes)
    {
        auto next = m_byOffset.lower_bound(offset);
        if (next != m_byOffset.begin()) {
            const auto before = std::prev(next);
            if (before->first + before->second == offset) {
                offset = before->first;
                bytes += before->second;
                removeGap(before->first, before->second);
            }
        }
        if (next != m_byOffset.end() && offset + bytes == next->first) {
            const std::size_t nextBytes = next->second;
            removeGap(next->first, nextBytes);
            bytes += nextBytes;
        }
        addGap(offset, bytes);
    }

    [[nodiscard]] std::size_t top() const { return m_top; }

private:
    /// Takes the gap at the top, if there is one, and what is missing from beyond it.
    std::size_t growFor(std::size_t bytes)
    {
        std::size_t offset = m_top;
        if (!m_byOffset.empty()) {
            const auto [lastOffset, lastBytes] = *m_byOffset.rbegin();
            if (lastOffset + lastBytes == m_top) {
                offset = lastOffset;
                removeGap(lastOffset, lastBytes);
            }
        }
        m_top = offset + bytes;
        return offset;
    }

    void addGap(std::size_t offset, std::size_t bytes)
    {
        m_byOffset.emplace(offset, bytes);
        m_bySize.emplace(bytes, offset);
    }
    void removeGap(std::size_t offset, std::size_t bytes)
    {
        m_byOffset.erase(offset);
        m_bySize.erase({bytes, offset});
    }

    std::map<std::size_t, std::size_t> m_byOffset;
    std::set<std::pair<std::size_t, std::size_t>> m_bySize;
    std::size_t m_top = 0;
};

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

std::size_t placePersistent(StepPlan& plan, bool all)
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

/// The tensors to place, by the op of their first use, larger ones first.
std::vector<std::vector<Tensor*>> transientsByFirstUse(StepPlan& plan)
{
    std::vector<std::vector<Tensor*>> byOp(plan.ops.size());
    for (Tensor& tensor : plan.tensors) {
        if (!tensor.persistent && !tensor.viewOf.valid() && tensor.firstUse >= 0)
            byOp[static_cast<std::size_t>(tensor.firstUse)].push_back(&tensor);
    }
    for (auto& tensors : byOp)
        std::stable_sort(tensors.begin(), tensors.end(), [](auto* a, auto* b) { return a->bytes() > b->bytes(); });
    return byOp;
}

std::size_t placeTransients(StepPlan& plan, std::size_t base)
{
    const auto byFirstUse = transientsByFirstUse(plan);
    std::vector<std::vector<Tensor*>> byLastUse(plan.ops.size());
    Arena arena;
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
        for (Tensor* tensor : byFirstUse[i]) {
            tensor->offset = base + arena.take(arenaBytesOf(*tensor));
            byLastUse[static_cast<std::size_t>(tensor->lastUse)].push_back(tensor);
        }
        for (const Tensor* tensor : byLastUse[i])
            arena.release(tensor->offset - base, arenaBytesOf(*tensor));
    }
    return base + arena.top();
}

/// Bytes live during each op, in the arena's alignment.
std::vector<std::size_t> liveBytes(const StepPlan& plan)
{
    std::vector<std::size_t> taken(plan.ops.size() + 1, 0), released(plan.ops.size() + 1, 0);
    const int last = static_cast<int>(plan.ops.size()) - 1;
    for (const Tensor& tensor : plan.tensors) {
        if (tensor.viewOf.valid())
            continue;
        const bool always = tensor.persistent || plan.tensorsKept;
        taken[static_cast<std::size_t>(always ? 0 : tensor.firstUse)] += arenaBytesOf(tensor);
        released[static_cast<std::size_t>(always ? last : tensor.lastUse) + 1] += arenaBytesOf(tensor);
    }
    std::vector<std::size_t> live(plan.ops.size());
    std::size_t now = 0;
    for (std::size_t i = 0; i < live.size(); ++i) {
        now += taken[i] - released[i];
        live[i] = now;
    }
    return live;
}

}  // namespace

void planMemory(StepPlan& plan, const PlanOptions& options)
{
    findLifetimes(plan);
    plan.tensorsKept = options.keepTensors;
    plan.arenaBytes = placePersistent(plan, options.keepTensors);
    if (!options.keepTensors)
        plan.arenaBytes = placeTransients(plan, plan.arenaBytes);
    for (Tensor& tensor : plan.tensors) {
        if (tensor.viewOf.valid())
            tensor.offset = plan.tensor(tensor.viewOf).offset + tensor.viewBytes;
    }
}

bool isLive(const StepPlan& plan, const Tensor& tensor, int op)
{
    return tensor.persistent || plan.tensorsKept || (tensor.firstUse <= op && op <= tensor.lastUse);
}

int busiestOp(const StepPlan& plan)
{
    const std::vector<std::size_t> live = liveBytes(plan);
    return static_cast<int>(std::max_element(live.begin(), live.end()) - live.begin());
}

std::size_t lifetimeLowerBound(const StepPlan& plan)
{
    const std::vector<std::size_t> live = liveBytes(plan);
    return *std::max_element(live.begin(), live.end());
}

}  // namespace fp8scope::plan

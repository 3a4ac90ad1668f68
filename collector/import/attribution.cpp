// SPDX-License-Identifier: Apache-2.0
#include "collector/import/attribution.h"

#include <algorithm>
#include <tuple>

namespace fp8scope::import {
namespace {

/// The phases that ranges of a process mark, for work that was launched outside of them (by another thread).
class PhaseMarks {
public:
    PhaseMarks(const RawEvents& raw, const std::vector<NameHint>& hints)
    {
        for (const HostEvent& event : raw.host) {
            const PhaseHint phase = hints[event.name.value].phase;
            const RawTrack& track = raw.tracks[event.track];
            if (event.kind == HostKind::Range && phase != PhaseHint::None && !track.track.device.valid())
                m_marks.push_back({track.track.process.value, event.startNs, event.startNs + event.durNs, phase});
        }
        std::sort(m_marks.begin(), m_marks.end(), [](const Mark& a, const Mark& b) {
            return std::tie(a.process, a.startNs) < std::tie(b.process, b.startNs);
        });
    }

    [[nodiscard]] PhaseHint at(std::uint32_t process, std::int64_t timeNs) const
    {
        constexpr int kDeepest = 16;
        auto mark =
            std::upper_bound(m_marks.begin(), m_marks.end(), std::pair(process, timeNs), [](auto key, const Mark& m) {
                return std::tie(key.first, key.second) < std::tie(m.process, m.startNs);
            });
        for (int i = 0; i < kDeepest && mark != m_marks.begin(); ++i) {
            --mark;
            if (mark->process == process && timeNs < mark->endNs)
                return mark->phase;
        }
        return PhaseHint::None;
    }

private:
    struct Mark {
        std::uint32_t process = 0;
        std::int64_t startNs = 0, endNs = 0;
        PhaseHint phase = PhaseHint::None;
    };
    std::vector<Mark> m_marks;
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

class Attributor {
public:
    Attributor(const RawEvents& raw, const HostNesting& nesting, const LaunchLinks& links,
               const std::vector<RunId>& runOfTrack, TraceOpTable& table)
        : m_raw(raw), m_nesting(nesting), m_links(links), m_runOfTrack(runOfTrack), m_table(table),
          m_marks(raw, nesting.hints())
    {
        for (const Name& name : raw.names)
            m_isGemm.push_back(name.kind == NameKind::Op && isGemmOp(name.text));
    }

    std::vector<OpId> attribute()
    {
        findProducts();
        std::vector<OpId> ops;
        ops.reserve(m_raw.device.size());
        for (std::uint32_t i = 0; i < m_raw.device.size(); ++i)
            ops.push_back(m_table.intern(evidence(i), m_raw.device[i].startNs));
        return ops;
    }

private:
    [[nodiscard]] bool isGemm(std::uint32_t op) const { return op != kNone && m_isGemm[m_raw.host[op].name.value]; }

    [[nodiscard]] bool isCollective(std::uint32_t op) const
    {
        const std::string_view name = m_raw.names[m_raw.host[op].name.value].text;
        return name == "record_param_comms" || name.starts_with("c10d::") || name.starts_with("nccl:");
    }

    /// The op that device work is filed under: the innermost, but where that one has no shapes the one around it that
    /// has.
    [[nodiscard]] std::uint32_t opOf(std::uint32_t device) const
    {
        const std::uint32_t op = m_links.ofDevice[device].op;
        if (op == kNone)
            return kNone;
        const std::uint32_t shaped = m_nesting.at(op).shaped;
        return shaped == kNone ? op : shaped;
    }

    /// Of the kernels that one call of a product's op launched, the longest multiplies; the others zero its workspace,
    /// add up split sums or copy the bias.
    void findProducts()
    {
        for (std::uint32_t i = 0; i < m_raw.device.size(); ++i) {
            const std::uint32_t op = opOf(i);
            if (!isGemm(op) || m_raw.names[m_raw.device[i].name.value].kind != NameKind::Kernel)
                continue;
            const auto [entry, isNew] = m_productOf.try_emplace(op, i);
            if (!isNew && m_raw.device[i].durNs > m_raw.device[entry->second].durNs)
                entry->second = i;
        }
    }

    OpEvidence evidence(std::uint32_t i)
    {
        const DeviceEvent& event = m_raw.device[i];
        OpEvidence evidence{.run = m_runOfTrack[event.track]};
        const std::uint32_t op = opOf(i);
        const std::uint32_t launch = m_links.ofDevice[i].launch;
        if (op == kNone && launch == kNone)
            return evidence;
        const HostContext& context = m_nesting.at(op != kNone ? op : launch);
        if (op != kNone) {
            evidence.name = m_raw.host[op].name;
            evidence.arguments = m_raw.host[op].arguments;
            const auto product = m_productOf.find(op);
            evidence.isProduct = product != m_productOf.end() && product->second == i;
        }
        const std::uint32_t described =
            event.arguments != DeviceEvent::kNoArguments ? event.arguments : evidence.arguments;
        if (const std::uint32_t collective = m_table.collective(described); collective != DeviceEvent::kNoArguments)
            evidence.arguments = collective;
        // A bucket of gradients that is reduced while they come in is of no layer, and of no gradient's phase.
        if (context.accumulatesGrad && op != kNone && isCollective(op))
            return evidence;
        evidence.module = moduleOf(context);
        evidence.phase = phaseOf(context, op, launch);
        return evidence;
    }

    [[nodiscard]] std::uint32_t moduleOf(const HostContext& context) const
    {
        const std::uint32_t forward = m_nesting.forwardOf(context.node);
        if (forward != kNone && m_nesting.at(forward).module != kNone)
            return m_nesting.at(forward).module;
        return context.module;
    }

    Phase phaseOf(const HostContext& context, std::uint32_t op, std::uint32_t launch)
    {
        PhaseHint hint = context.phase;
        if (hint == PhaseHint::None && op == kNone && launch != kNone) {
            const HostEvent& call = m_raw.host[launch];
            hint = m_marks.at(m_raw.tracks[call.track].track.process.value, call.startNs);
        }
        switch (hint) {
        case PhaseHint::Forward: return Phase::Forward;
        case PhaseHint::Optimizer: return Phase::Optimizer;
        case PhaseHint::Backward: return gradientPhase(context, op);
        case PhaseHint::None: break;
        }
        return op != kNone || context.module != kNone ? Phase::Forward : Phase::Other;
    }

    Phase gradientPhase(const HostContext& context, std::uint32_t op)
    {
        if (context.accumulatesGrad)
            return Phase::Wgrad;
        if (op == kNone)
            return Phase::Dgrad;
        const std::string_view name = m_raw.names[m_raw.host[op].name.value].text;
        if (!isGemm(op))
            return name == "aten::sum" || contains(name, "backward_weight") || contains(name, "wgrad") ? Phase::Wgrad
                                                                                                       : Phase::Dgrad;
        const auto& product = m_table.gemm(m_raw.host[op].name, m_raw.host[op].arguments);
        return product ? gradientOf(*product, name, forwardProduct(context.node)) : gradientByOrder(context.node, op);
    }

    /// Without shapes: a node of two products computes the data's gradient first; where the data needs none (a model's
    /// first layer) there is only the weight's.
    Phase gradientByOrder(std::uint32_t node, std::uint32_t op)
    {
        if (node == kNone)
            return Phase::Dgrad;
        std::vector<std::uint32_t> products;
        for (const std::uint32_t inside : m_nesting.opsInside(node, kMostOps)) {
            if (isGemm(inside))
                products.push_back(inside);
        }
        return !products.empty() && products.back() == op ? Phase::Wgrad : Phase::Dgrad;
    }

    static constexpr std::size_t kMostOps = 64;  ///< looked at inside one node or forward op

    /// Y[M,N] = X[M,K] W: dX sums over N, dW over M. Products of two activations (bmm) have no weight.
    static Phase gradientOf(const GemmArguments& g, std::string_view name, const std::optional<GemmArguments>& forward)
    {
        if (name == "aten::bmm" || name == "aten::baddbmm")
            return Phase::Dgrad;
        if (forward) {
            const bool isDgrad = g.k == forward->n && g.n == forward->k;
            const bool isWgrad = g.k == forward->m &&
                                 ((g.m == forward->n && g.n == forward->k) || (g.m == forward->k && g.n == forward->n));
            if (isDgrad != isWgrad)
                return isWgrad ? Phase::Wgrad : Phase::Dgrad;
        }
        return g.firstIsTransposed ? Phase::Wgrad : Phase::Dgrad;
    }

    /// The product inside the forward op that made a node.
    const std::optional<GemmArguments>& forwardProduct(std::uint32_t node)
    {
        static const std::optional<GemmArguments> kNothing;
        const std::uint32_t forward = m_nesting.forwardOf(node);
        if (forward == kNone)
            return kNothing;
        const auto [entry, isNew] = m_forwardProduct.try_emplace(forward, kNone);
        if (isNew) {
            for (const std::uint32_t inside : m_nesting.opsInside(forward, kMostOps)) {
                if (!isGemm(inside) || !m_table.gemm(m_raw.host[inside].name, m_raw.host[inside].arguments))
                    continue;
                entry->second = inside;
                break;
            }
        }
        if (entry->second == kNone)
            return kNothing;
        const HostEvent& product = m_raw.host[entry->second];
        return m_table.gemm(product.name, product.arguments);
    }

    const RawEvents& m_raw;
    const HostNesting& m_nesting;
    const LaunchLinks& m_links;
    const std::vector<RunId>& m_runOfTrack;
    TraceOpTable& m_table;
    PhaseMarks m_marks;
    std::vector<bool> m_isGemm;                                         ///< by name
    std::unordered_map<std::uint32_t, std::uint32_t> m_productOf;       ///< the device event, by the product's op
    std::unordered_map<std::uint32_t, std::uint32_t> m_forwardProduct;  ///< the product's op, by forward op
};

}  // namespace

std::vector<OpId> attribute(const RawEvents& raw, const HostNesting& nesting, const LaunchLinks& links,
                            const std::vector<RunId>& runOfTrack, TraceOpTable& table)
{
    return Attributor(raw, nesting, links, runOfTrack, table).attribute();
}

}  // namespace fp8scope::import

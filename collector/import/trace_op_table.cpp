// SPDX-License-Identifier: Apache-2.0
#include "collector/import/trace_op_table.h"

#include <algorithm>
#include <numeric>

namespace fp8scope::import {
namespace {

std::uint64_t pairOf(std::uint32_t high, std::uint32_t low) { return (std::uint64_t{high} << 32U) | low; }

/// Of a text that a file may have kept in its quotes.
std::string_view unquoted(std::string_view text)
{
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
        return text.substr(1, text.size() - 2);
    return text;
}

}  // namespace

std::size_t TraceOpTable::Hash::operator()(const OpEvidence& e) const noexcept
{
    constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15U;
    std::uint64_t hash = pairOf(e.name.value, e.arguments) * kMix;
    hash = (hash ^ (hash >> 29U) ^ pairOf(e.module, e.run.value)) * kMix;
    hash ^= (static_cast<std::uint64_t>(e.phase) << 1U) | static_cast<std::uint64_t>(e.isProduct);
    return static_cast<std::size_t>((hash * kMix) ^ (hash >> 31U));
}

OpId TraceOpTable::intern(const OpEvidence& evidence, std::int64_t startNs)
{
    if (!evidence.name.valid() && evidence.module == kNone && evidence.phase == Phase::Other)
        return OpId::none();
    const LayerId layer = layerOf(evidence.run, evidence.module, startNs);
    const auto [entry, isNew] = m_known.try_emplace(evidence, OpId(static_cast<std::uint32_t>(m_ops.size())));
    if (!isNew)
        return entry->second;
    TraceOp op;
    op.run = evidence.run;
    op.layer = layer;
    op.name = evidence.name.valid() ? m_raw.names[evidence.name.value].text : std::string();
    op.phase = evidence.phase;
    if (evidence.isProduct)
        describeProduct(evidence, op);
    else if (evidence.arguments != DeviceEvent::kNoArguments && !m_raw.arguments[evidence.arguments].collective.empty())
        describeCollective(evidence, op);
    else
        describeTypes(evidence, op);
    m_ops.push_back(std::move(op));
    return entry->second;
}

const std::optional<GemmArguments>& TraceOpTable::gemm(NameId name, std::uint32_t arguments)
{
    static const std::optional<GemmArguments> kNothing;
    if (!name.valid() || arguments == DeviceEvent::kNoArguments)
        return kNothing;
    const auto [entry, isNew] = m_gemms.try_emplace(pairOf(name.value, arguments));
    if (isNew)
        entry->second = gemmOf(m_raw.names[name.value].text, m_raw.arguments[arguments]);
    return entry->second;
}

void TraceOpTable::describeProduct(const OpEvidence& evidence, TraceOp& op)
{
    op.role = Role::Gemm;
    const std::optional<GemmArguments>& product = gemm(evidence.name, evidence.arguments);
    if (!product)
        return;
    op.m = product->m;
    op.n = product->n;
    op.k = product->k;
    op.aType = product->aType;
    op.bType = product->bType;
    op.dType = product->dType;
    op.recipe = product->recipe;
    op.epilogue = product->epilogue;
    if (!op.epilogue.empty())
        op.fused.insert(Role::Bias);
    op.flops = product->flops();
    op.bytes = product->leastBytes();
    if (op.layer.valid() && op.phase == Phase::Forward) {
        Layer& layer = m_layers[op.layer.value];
        layer.inFeatures = product->k;
        layer.outFeatures = product->n;
        const bool isFp8 = product->aType.starts_with("e") && product->aType != "e2m1";
        layer.precision = isFp8 ? "fp8" : product->aType;
    }
}

std::uint32_t TraceOpTable::collective(std::uint32_t arguments)
{
    if (arguments == DeviceEvent::kNoArguments || m_raw.arguments[arguments].collective.empty())
        return DeviceEvent::kNoArguments;
    const Arguments& a = m_raw.arguments[arguments];
    return m_collectives.try_emplace({a.collective, a.group, a.types, a.messageElements}, arguments).first->second;
}

void TraceOpTable::describeCollective(const OpEvidence& evidence, TraceOp& op)
{
    const Arguments& a = m_raw.arguments[evidence.arguments];
    op.role = Role::Comm;
    op.name = unquoted(a.collective);
    if (const std::string_view group = unquoted(a.group); !group.empty())
        op.name.append(" in group ").append(group);
    op.m = 1;
    op.n = a.messageElements;
    op.aType = elementType(unquoted(a.types));
}

/// Of what a product's op launched besides, the product's types; of any other op, those of its first two operands.
void TraceOpTable::describeTypes(const OpEvidence& evidence, TraceOp& op)
{
    if (const std::optional<GemmArguments>& product = gemm(evidence.name, evidence.arguments)) {
        op.aType = product->aType;
        op.bType = product->bType;
        op.dType = product->dType;
        return;
    }
    if (evidence.arguments == DeviceEvent::kNoArguments)
        return;
    const std::vector<std::string> types = parseTypes(m_raw.arguments[evidence.arguments].types);
    if (!types.empty())
        op.aType = elementType(types[0]);
    if (types.size() > 1)
        op.bType = elementType(types[1]);
}

LayerId TraceOpTable::layerOf(RunId run, std::uint32_t module, std::int64_t startNs)
{
    if (module == kNone)
        return LayerId::none();
    const auto [entry, isNew] =
        m_layerOfModule.try_emplace(pairOf(run.value, module), LayerId(static_cast<std::uint32_t>(m_layers.size())));
    if (isNew) {
        m_layers.push_back({.run = run});
        m_moduleOfLayer.push_back(module);
        m_firstNs.push_back(startNs);
    }
    std::int64_t& first = m_firstNs[entry->second.value];
    first = std::min(first, startNs);
    return entry->second;
}

void TraceOpTable::nameLayers()
{
    const std::vector<std::string> paths = m_modules.paths(m_moduleOfLayer, m_raw.names);
    for (std::size_t i = 0; i < paths.size(); ++i)
        m_layers[i].name = paths[i];
}

/// Each run's layers count from 0 in the order in which they first work.
void TraceOpTable::numberLayers()
{
    std::vector<std::size_t> order(m_layers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](std::size_t a, std::size_t b) { return m_firstNs[a] < m_firstNs[b]; });
    std::map<RunId, std::uint32_t> next;
    for (const std::size_t i : order)
        m_layers[i].index = next[m_layers[i].run]++;
}

void TraceOpTable::numberOps()
{
    std::map<RunId, std::uint32_t> next;
    for (TraceOp& op : m_ops)
        op.index = next[op.run]++;
}

void TraceOpTable::finish(Trace& trace)
{
    nameLayers();
    numberLayers();
    numberOps();
    trace.ops = std::move(m_ops);
    trace.layers = std::move(m_layers);
}

}  // namespace fp8scope::import

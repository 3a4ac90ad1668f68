// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/recipes/recipe_quantizer.h"

#include "engine/plan/recipes/block_quantizer.h"
#include "engine/plan/recipes/chain_quantizer.h"

#include <array>

namespace fp8scope::plan {
namespace {

constexpr std::array kOperands{Operand::X, Operand::W, Operand::Dy};

DType formatOf(const Recipe& recipe, Operand operand)
{
    switch (operand) {
    case Operand::X: return recipe.inputFormat;
    case Operand::W: return recipe.weightFormat;
    case Operand::Dy: return recipe.gradientFormat;
    }
    return recipe.inputFormat;
}

std::int64_t elementsOf(const StepPlan& plan, const LayerPlan& layer, Operand operand)
{
    switch (operand) {
    case Operand::X: return plan.config.batch * layer.inFeatures;
    case Operand::W: return layer.outFeatures * layer.inFeatures;
    case Operand::Dy: return plan.config.batch * layer.outFeatures;
    }
    return 0;
}

}  // namespace

std::string_view phaseWord(Phase phase)
{
    switch (phase) {
    case Phase::Forward: return "fwd";
    case Phase::Dgrad: return "dgrad";
    case Phase::Wgrad: return "wgrad";
    default: return toString(phase);
    }
}

std::string_view toString(Operand operand)
{
    switch (operand) {
    case Operand::X: return "x";
    case Operand::W: return "w";
    case Operand::Dy: return "dy";
    }
    return "?";
}

CastSite leftSite(const LinearGemm& gemm)
{
    return {gemm.layer, gemm.phase, gemm.phase == Phase::Forward ? Operand::X : Operand::Dy};
}
CastSite rightSite(const LinearGemm& gemm)
{
    return {gemm.layer, gemm.phase, gemm.phase == Phase::Wgrad ? Operand::X : Operand::W};
}

std::unique_ptr<Quantizer> makeQuantizer(PlanWriter& writer)
{
    if (scalesBlocks(writer.plan().recipe.kind))
        return std::make_unique<BlockQuantizer>(writer);
    return std::make_unique<ChainQuantizer>(writer);
}

RecipeQuantizer::RecipeQuantizer(PlanWriter& writer) : m_writer(writer), m_plan(writer.plan())
{
    for (std::size_t l = 0; l < m_plan.layers.size(); ++l) {
        const LayerPlan& layer = m_plan.layers[l];
        m_firstIndex.push_back(m_plan.quantized.size());
        if (!layer.fp8)
            continue;
        for (const Operand operand : kOperands) {
            QuantizedTensor& entry = m_plan.quantized.emplace_back();
            entry.name = joined({layer.name, ".", toString(operand)});
            entry.layer = static_cast<int>(l);
            entry.format = formatOf(m_plan.recipe, operand);
            entry.elements = elementsOf(m_plan, layer, operand);
        }
    }
}

TensorId RecipeQuantizer::matrix(const CastSite& site, std::string_view what, DType type, TensorClass cls,
                                 std::int64_t rows, std::int64_t cols)
{
    return m_writer.add(
        {.name = joined({layerName(site.layer), ".", phaseWord(site.phase), ".", toString(site.operand), ".", what}),
         .type = type,
         .rows = rows,
         .cols = cols,
         .cls = cls,
         .layer = site.layer});
}

Op& RecipeQuantizer::append(OpKind kind, const CastSite& site, std::string_view verb, TensorId input, TensorId output)
{
    std::string name =
        joined({layerName(site.layer), ".", phaseWord(site.phase), ".", verb, "_", toString(site.operand)});
    return m_writer.append(kind, std::move(name), site.phase, site.layer, {input}, {output});
}

Op& RecipeQuantizer::appendGemm(const LinearGemm& gemm, const GemmCall& call)
{
    Op& op = m_writer.append(OpKind::Gemm, joined({layerName(gemm.layer), ".", phaseWord(gemm.phase), ".gemm"}),
                             gemm.phase, gemm.layer, gemmInputs(call), {call.dTensor});
    op.gemm = call;
    return op;
}

void RecipeQuantizer::forgetUnquantized()
{
    std::vector<int> renumbered;
    int kept = 0;
    for (const QuantizedTensor& entry : m_plan.quantized)
        renumbered.push_back(entry.source.valid() ? kept++ : -1);
    std::erase_if(m_plan.quantized, [](const QuantizedTensor& entry) { return !entry.source.valid(); });
    for (Op& op : m_plan.ops)
        if (op.quantized >= 0)
            op.quantized = renumbered[static_cast<std::size_t>(op.quantized)];
}

}  // namespace fp8scope::plan

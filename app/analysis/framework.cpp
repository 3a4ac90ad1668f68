// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/framework.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

namespace fp8scope::analysis {
namespace {

constexpr std::size_t kNamesAStatement = 3;

/// A part of a name that only one framework (or recipe) has.
struct Sign {
    std::string_view part;
    std::string_view tells;
};

/// Namespaces of kernels and ops, and paths in Python frames. In this order where a run shows several: a server or
/// trainer first, then the libraries that it is built of.
constexpr std::array kFrameworkSigns{
    Sign{"vllm::", "vLLM"},
    Sign{"vllm/", "vLLM"},
    Sign{"_vllm_", "vLLM"},
    Sign{"sgl_kernel", "SGLang"},
    Sign{"sglang", "SGLang"},
    Sign{"tensorrt_llm::", "TensorRT-LLM"},
    Sign{"tensorrt_llm/", "TensorRT-LLM"},
    Sign{"megatron/", "Megatron-LM"},
    Sign{"megatron.", "Megatron-LM"},
    Sign{"MegatronModule", "Megatron-LM"},
    Sign{"DistributedDataParallel.megatron", "Megatron-LM"},
    Sign{"transformer_engine", "Transformer Engine"},
    Sign{"cast_transpose_fusion_kernel", "Transformer Engine"},
    Sign{"cast_transpose_optimized_kernel", "Transformer Engine"},
    Sign{"TransformerEngine", "Transformer Engine"},
    Sign{"_LayerNormLinear", "Transformer Engine"},
    Sign{"_LayerNormMLP", "Transformer Engine"},
    Sign{"dpsk::", "DeepSeek"},
    Sign{"deep_ep::", "DeepSeek"},
    Sign{"deep_gemm::", "DeepSeek"},
    Sign{"torchao/", "torchao"},
    Sign{"torchao::", "torchao"},
    Sign{"Float8Linear", "torchao"},
    Sign{"matmul_with_hp_or_float8_args", "torchao"},
};
constexpr std::array<std::string_view, 7> kOrder{
    "vLLM", "SGLang", "TensorRT-LLM", "Megatron-LM", "Transformer Engine", "DeepSeek", "torchao"};

/// Kernels that only one way of scaling needs; the first recipe that has any wins.
constexpr std::array kRecipeSigns{
    Sign{"mxfp8", "mxfp8"},
    Sign{"UE8M0", "mxfp8"},
    Sign{"quantize_mx", "mxfp8"},
    Sign{"block_scaled_1d_cast_transpose", "blockwise"},
    Sign{"block_scaled_cast_transpose", "blockwise"},
    Sign{"fp8_block_scaling", "blockwise"},
    Sign{"per_token_cast_to_fp8", "blockwise"},
    Sign{"per_channel_cast_and_transpose", "blockwise"},
    Sign{"per_token_group_quant", "blockwise"},
    Sign{"Avec128", "blockwise"},
    Sign{"_w8a8_block_fp8", "blockwise"},
    Sign{"fp8_gemm_1d2d", "blockwise"},
    Sign{"fp8_gemm_1d1d", "blockwise"},
    Sign{"amax_and_scale_update", "delayed"},
    Sign{"delayed_scaling", "delayed"},
    Sign{"compute_scale_from_amax", "tensorwise"},
    Sign{"transformer_engine::amax_kernel", "tensorwise"},
    Sign{"zero_amax_kernel", "tensorwise"},
    Sign{"ovscale", "rowwise"},
    Sign{"f8f8bf16_rowwise", "rowwise"},
    Sign{"per_token_scaled_fp8_quant", "rowwise"},
};
constexpr std::array<std::string_view, 5> kRecipeOrder{"mxfp8", "blockwise", "delayed", "rowwise", "tensorwise"};

/// The names of one run with the number of their slices.
struct CountedName {
    const Name* name;
    std::uint64_t count;
};

std::vector<CountedName> namesOf(const Trace& trace, RunId run)
{
    std::vector<std::uint64_t> counts(trace.names.size(), 0);
    for (const Track& track : trace.tracks) {
        if (track.run != run)
            continue;
        for (const NameId id : track.slices.name)
            ++counts[id.value];
    }
    std::vector<CountedName> names;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] > 0)
            names.push_back({&trace.names[i], counts[i]});
    }
    std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
    return names;
}

using Found = std::map<std::string_view, std::vector<FrameworkEvidence>>;

Found findSigns(const std::vector<CountedName>& names, std::span<const Sign> signs)
{
    Found found;
    for (const CountedName& n : names) {
        for (const Sign& sign : signs) {
            if (n.name->text.find(sign.part) == std::string::npos)
                continue;
            std::vector<FrameworkEvidence>& evidence = found[sign.tells];
            if (evidence.size() < kNamesAStatement)
                evidence.push_back({n.name->text, std::string(sign.tells), n.count});
            break;
        }
    }
    return found;
}

template <std::size_t N>
std::string_view firstOf(const Found& found, const std::array<std::string_view, N>& order)
{
    const auto* const first = std::find_if(order.begin(), order.end(), [&](auto word) { return found.contains(word); });
    return first == order.end() ? std::string_view() : *first;
}

void addEvidence(const Found& found, std::string_view tells, Framework& framework)
{
    if (const auto entry = found.find(tells); entry != found.end())
        framework.evidence.insert(framework.evidence.end(), entry->second.begin(), entry->second.end());
}

bool isKernel(const CountedName& n) { return n.name->kind == NameKind::Kernel; }
bool contains(const CountedName& n, std::string_view part) { return n.name->text.find(part) != std::string::npos; }
bool isFp8Gemm(const CountedName& n)
{
    return isKernel(n) && n.name->role == Role::Gemm && n.name->precision == Precision::Fp8;
}

/// PyTorch's own float8 path: fp8 products beside casts that PyTorch or its compiler made.
struct PyTorchSigns {
    const CountedName* fp8Gemm = nullptr;
    const CountedName* compiledCast = nullptr;
    const CountedName* eagerCast = nullptr;
    const CountedName* rowAmax = nullptr;     ///< amax over rows: the rowwise recipe
    const CountedName* tensorAmax = nullptr;  ///< max over all: tensorwise
    const CountedName* compiled = nullptr;
    const CountedName* aten = nullptr;
    const CountedName* scaledMm = nullptr;
};

void noteFirst(const CountedName*& sign, bool is, const CountedName& n)
{
    if (is && sign == nullptr)
        sign = &n;
}

PyTorchSigns pyTorchSigns(const std::vector<CountedName>& names)
{
    PyTorchSigns s;
    for (const CountedName& n : names) {
        const bool inductor = isKernel(n) && n.name->text.starts_with("triton_") && contains(n, "_fused_");
        const bool quantizes = isKernel(n) && n.name->precision == Precision::Fp8 &&
                               (familyOf(n.name->role, Precision::Fp8) == Family::Quantization ||
                                n.name->fused.contains(Role::Cast) || n.name->fused.contains(Role::Amax));
        noteFirst(s.fp8Gemm, isFp8Gemm(n), n);
        noteFirst(s.compiled, inductor, n);
        noteFirst(s.compiledCast, inductor && quantizes, n);
        noteFirst(s.eagerCast, isKernel(n) && contains(n, "at::native::") && n.name->role == Role::Cast && quantizes,
                  n);
        noteFirst(s.rowAmax, inductor && quantizes && contains(n, "_amax"), n);
        noteFirst(s.tensorAmax, inductor && quantizes && contains(n, "_abs") && !contains(n, "_amax"), n);
        noteFirst(s.aten, isKernel(n) && contains(n, "at::native::"), n);
        noteFirst(s.scaledMm, n.name->kind != NameKind::Kernel && n.name->text == "aten::_scaled_mm", n);
    }
    return s;
}

void add(const CountedName* sign, std::string_view tells, Framework& framework)
{
    if (sign != nullptr)
        framework.evidence.push_back({sign->name->text, std::string(tells), sign->count});
}

/// torchao has few names of its own in a trace: what tells it is PyTorch's scaled product beside casts of PyTorch's
/// own.
void readAsTorchao(const PyTorchSigns& s, Framework& framework)
{
    framework.name = "torchao";
    framework.confidence =
        std::max(framework.confidence, s.scaledMm != nullptr ? Confidence::Likely : Confidence::Guess);
    framework.compiled = s.compiledCast != nullptr;
    add(s.scaledMm, "torchao", framework);
    add(s.fp8Gemm, "fp8 products", framework);
    add(framework.compiled ? s.compiledCast : s.eagerCast, framework.compiled ? "compiled" : "eager", framework);
    if (framework.recipe.empty() && (s.rowAmax != nullptr || s.tensorAmax != nullptr)) {
        framework.recipe = s.rowAmax != nullptr ? "rowwise" : "tensorwise";
        add(s.rowAmax != nullptr ? s.rowAmax : s.tensorAmax, framework.recipe, framework);
    }
}

std::vector<std::string> speaksOf(std::string_view name)
{
    if (name == "Megatron-LM")
        return {"Megatron-LM", "Transformer Engine"};
    if (name == "PyTorch")
        return {"torchao"};
    return name.empty() ? std::vector<std::string>{} : std::vector<std::string>{std::string(name)};
}

Framework engineRun(const Run& run)
{
    Framework framework;
    framework.name = "fp8scope";
    framework.confidence = Confidence::Certain;
    framework.usesFp8 = run.mode.starts_with("fp8");
    framework.evidence.push_back({run.tool.empty() ? run.mode : run.tool, "fp8scope", 1});
    return framework;
}

std::string_view recipeWords(const Framework& framework)
{
    if (framework.recipe == "tensorwise" && framework.name != "torchao")
        return "current scaling";
    if (framework.recipe == "delayed")
        return "delayed scaling";
    if (framework.recipe == "mxfp8")
        return "MXFP8";
    return framework.recipe;
}

}  // namespace

std::string_view toString(Confidence confidence)
{
    static constexpr std::array<std::string_view, 3> kWords{"guess", "likely", "certain"};
    return kWords[static_cast<std::size_t>(confidence)];
}

Framework detectFramework(const Trace& trace, RunId run)
{
    if (trace.run(run).origin != Origin::Imported)
        return engineRun(trace.run(run));
    const std::vector<CountedName> names = namesOf(trace, run);
    const Found frameworks = findSigns(names, kFrameworkSigns);
    const PyTorchSigns pyTorch = pyTorchSigns(names);
    Framework result;
    result.usesFp8 = std::any_of(names.begin(), names.end(), isFp8Gemm);
    result.compiled = pyTorch.compiled != nullptr;
    result.name = firstOf(frameworks, kOrder);
    if (!result.name.empty()) {
        result.confidence = Confidence::Certain;
        addEvidence(frameworks, result.name, result);
    }
    if (const Found recipes = findSigns(names, kRecipeSigns); result.usesFp8) {
        result.recipe = firstOf(recipes, kRecipeOrder);
        addEvidence(recipes, result.recipe, result);
    }
    const bool ownCasts = pyTorch.compiledCast != nullptr || pyTorch.eagerCast != nullptr;
    if (result.name == "torchao" ||
        (result.name.empty() && result.usesFp8 && (ownCasts || pyTorch.scaledMm != nullptr)))
        readAsTorchao(pyTorch, result);
    if (result.name.empty() && (pyTorch.aten != nullptr || pyTorch.compiled != nullptr)) {
        result.name = "PyTorch";
        result.confidence = Confidence::Likely;
        add(pyTorch.aten, "PyTorch", result);
        add(pyTorch.compiled, "compiled", result);
    }
    result.speaks = speaksOf(result.name);
    return result;
}

std::string describe(const Framework& framework)
{
    if (framework.name.empty())
        return "framework unknown";
    std::string text = framework.name;
    if (!framework.recipe.empty())
        text += fmt::format(", {}", recipeWords(framework));
    if (framework.name == "torchao" || framework.name == "PyTorch")
        text += framework.compiled ? ", compiled" : ", eager";
    return fmt::format("{} ({})", text, toString(framework.confidence));
}

void putOwnOptionsFirst(Finding& finding, const Framework& framework)
{
    const auto rank = [&](const FrameworkOption& option) {
        const auto found = std::find(framework.speaks.begin(), framework.speaks.end(), option.framework);
        return found - framework.speaks.begin();
    };
    std::stable_sort(finding.options.begin(), finding.options.end(),
                     [&](const FrameworkOption& a, const FrameworkOption& b) { return rank(a) < rank(b); });
}

}  // namespace fp8scope::analysis

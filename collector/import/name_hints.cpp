// SPDX-License-Identifier: Apache-2.0
#include "collector/import/name_hints.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>

namespace fp8scope::import {
namespace {

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";
constexpr std::size_t kLongestMark = 200;  ///< marks are short; names can have 5,000 characters

/// Lower case, without the "##" and brackets that people put around their marks.
std::string plain(std::string_view name)
{
    std::string text(name);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    constexpr std::string_view kDecoration = "# \t[]<>*=-";
    const std::size_t first = text.find_first_not_of(kDecoration);
    if (first == std::string::npos)
        return {};
    return text.substr(first, text.find_last_not_of(kDecoration) - first + 1);
}

bool isAnyOf(std::string_view text, std::initializer_list<std::string_view> words)
{
    return std::find(words.begin(), words.end(), text) != words.end();
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// "iteration 12", "step: 12", "global_step=12": the number behind one of the words, and nothing else.
bool readNumbered(std::string_view text, std::uint32_t& number)
{
    constexpr std::array<std::string_view, 9> kWords{"profilerstep", "iteration",     "iter",
                                                     "global_step",  "train_step",    "training_step",
                                                     "train step",   "training step", "step"};
    const auto* const word =
        std::find_if(kWords.begin(), kWords.end(), [&](std::string_view w) { return text.starts_with(w); });
    if (word == kWords.end())
        return false;
    text.remove_prefix(word->size());
    const std::size_t digits = text.find_first_not_of(" #:_=-");
    if (digits == std::string_view::npos || (digits == 0 && text.empty()))
        return false;
    text.remove_prefix(digits);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

void findStep(std::string_view name, std::string_view text, NameHint& hint)
{
    if (readNumbered(text, hint.stepNumber))
        hint.step = name.starts_with("ProfilerStep#") ? StepMark::ProfilerStep : StepMark::Iteration;
    else if (name.starts_with("execute_") && contains(name, "context") && contains(name, "generation"))
        hint.step = StepMark::EngineExecute;
    else if (isAnyOf(text, {"train_step", "train step", "training_step", "training step", "iteration", "step",
                            "pl][profile]run_training_batch", "deepspeedengine.train_batch"}))
        hint.step = StepMark::TrainStep;
    else if (name.starts_with("Optimizer.step#"))
        hint.step = StepMark::OptimizerStep;
}

PhaseHint phaseOf(std::string_view name, std::string_view text)
{
    if (name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#") ||
        isAnyOf(text, {"optimizer", "optimizer step", "optimizer_step", "optimizer.step", "optim_step",
                       "optimizer-inner-step", "zero_grad"}) ||
        name.starts_with("aten::_fused_adam") || name.starts_with("aten::_fused_sgd") ||
        name.starts_with("aten::_fused_adagrad") || name.starts_with("aten::_foreach_") ||
        (contains(name, "optim/") && name.ends_with(": step")))
        return PhaseHint::Optimizer;
    if (isAnyOf(text, {"forward", "fwd", "forward pass", "forward_step", "forward-step", "forward-compute"}))
        return PhaseHint::Forward;
    if (isAnyOf(text, {"backward", "bwd", "backward pass", "backward_step", "backward-step", "backward-compute"}))
        return PhaseHint::Backward;
    return PhaseHint::None;
}

/// "AddmmBackward0", "CudnnConvolutionBackward", "_LinearBackward": the name of an autograd node.
bool isNodeName(std::string_view name)
{
    const std::size_t digits = name.find_last_not_of("0123456789");
    return digits != std::string_view::npos && name.substr(0, digits + 1).ends_with("Backward") &&
           !contains(name, ": ");
}

/// A part of a model by its words: "decoder.layers.3.mlp", "TransformerLayer.forward", "block_7".
bool namesModule(std::string_view text)
{
    constexpr std::array<std::string_view, 17> kWords{
        "layer",   "block", "decoder",   "encoder", "mlp",    "attention", "self_attn", "linear",     "_proj",
        "lm_head", "embed", "layernorm", "rmsnorm", "expert", "moe",       "router",    "transformer"};
    for (const std::string_view other : {"::", "nccl", "fp8", "cuda", "wait", "class '"}) {
        if (contains(text, other))
            return false;
    }
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return contains(text, word); });
}

}  // namespace

std::string_view moduleName(std::string_view name)
{
    if (name.starts_with(kModule))
        return name.substr(kModule.size());
    const std::size_t first = name.find_first_not_of("# ");
    return first == std::string_view::npos ? name : name.substr(first, name.find_last_not_of("# ") - first + 1);
}

NameHint hintOf(std::string_view name)
{
    NameHint hint;
    if (name.size() > kLongestMark)
        return hint;
    if (name.starts_with(kModule)) {
        hint.isModuleFrame = true;
        return hint;
    }
    const std::string text = plain(name);
    hint.accumulatesGrad = contains(name, "AccumulateGrad");
    hint.isBackwardNode = name.starts_with(kEvaluate) || isNodeName(name) || hint.accumulatesGrad;
    if (hint.isBackwardNode)
        return hint;
    findStep(name, text, hint);
    hint.phase = phaseOf(name, text);
    hint.isMark = name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.");
    hint.isModuleRange = hint.step == StepMark::None && hint.phase == PhaseHint::None && namesModule(text);
    return hint;
}

std::vector<NameHint> hintsOf(const std::vector<Name>& names)
{
    std::vector<NameHint> hints(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        const NameKind kind = names[i].kind;
        if (kind == NameKind::Op || kind == NameKind::Range || kind == NameKind::Step)
            hints[i] = hintOf(names[i].text);
    }
    return hints;
}

}  // namespace fp8scope::import

// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/classify/inductor_name.h"

#include "app/analysis/classify/inductor_ops.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <vector>

namespace fp8scope::analysis {
namespace {

const std::vector<std::string_view>& joinedOps()
{
    static const std::vector<std::string_view> kOps = [] {
        std::vector<std::string_view> ops;
        for (std::string_view rest = kJoinedOps; !rest.empty();) {
            const std::size_t end = rest.find(' ');
            ops.push_back(rest.substr(0, end));
            rest.remove_prefix(end + 1);
        }
        return ops;
    }();
    return kOps;
}

/// The longest joined op that stands at `text`'s begin and ends at a word's end; its size, else 0.
std::size_t joinedOp(std::string_view text)
{
    std::size_t longest = 0;
    for (const std::string_view op : joinedOps()) {
        const bool ends = text.size() == op.size() || (text.size() > op.size() && text[op.size()] == '_');
        if (op.size() > longest && ends && text.starts_with(op))
            longest = op.size();
    }
    return longest;
}

class Ops {
public:
    explicit Ops(const InductorName& name) : m_ops(name.ops) {}
    [[nodiscard]] bool any(std::span<const std::string_view> ops) const
    {
        return std::any_of(ops.begin(), ops.end(), [&](std::string_view op) { return m_ops.contains(op); });
    }
    [[nodiscard]] bool any(std::initializer_list<std::string_view> ops) const
    {
        return any(std::span(ops.begin(), ops.size()));
    }
    [[nodiscard]] bool contain(std::string_view part) const
    {
        return std::any_of(m_ops.begin(), m_ops.end(),
                           [&](const auto& op) { return op.find(part) != std::string::npos; });
    }
    [[nodiscard]] bool onlyOf(std::span<const std::string_view> ops) const
    {
        return std::all_of(m_ops.begin(), m_ops.end(),
                           [&](const auto& op) { return std::find(ops.begin(), ops.end(), op) != ops.end(); });
    }

private:
    const std::set<std::string, std::less<>>& m_ops;
};

InductorWork templateWork(const Ops& ops)
{
    InductorWork work;
    if (ops.contain("attention")) {
        work.role = Role::Attention;
        return work;
    }
    work.role = Role::Gemm;  // mm, addmm, bmm, _scaled_mm, convolution, ...: templates multiply
    if (ops.any({"addmm", "baddbmm"}))
        work.fused.insert(Role::Bias);
    if (ops.any({"relu", "gelu", "silu", "sigmoid", "erf"}))
        work.fused.insert(Role::Activation);
    return work;
}

/// Which part of a quantization, if any.
struct Quantization {
    bool amax = false, scale = false, cast = false;
    [[nodiscard]] bool any() const { return amax || scale || cast; }
};

Quantization quantizationIn(const Ops& ops, bool reduces)
{
    Quantization q;
    const bool rowwise = ops.any({"amax"});
    q.amax = reduces && ops.any({"abs"}) && ops.any({"amax", "max"});
    const bool scales = ops.any({"reciprocal", "div", "mul"});
    const bool converts = ops.any({"_to_copy", "convert_element_type"});
    if (!reduces) {
        q.cast = converts && scales && ops.any({"clamp"});
        q.scale = !q.cast && ops.any({"_scaled_mm"}) && scales;  // the rescale after a GEMM that knows no row scales
        return q;
    }
    if (!q.amax)
        return q;
    // A scale over the whole tensor is known only after the last stage; one over a row ("amax") is known in the same
    // kernel, which then clamps and casts too.
    q.scale = ops.any({"reciprocal", "div"});
    q.cast = rowwise && converts && scales && ops.any({"clamp"});
    return q;
}

std::optional<Role> computeRole(const Ops& ops)
{
    const bool rsqrtNorm = ops.any({"rsqrt"}) && ops.any({"mean", "var_mean", "pow", "sum"});
    if (rsqrtNorm || ops.contain("rms_norm") || ops.contain("layer_norm") || ops.contain("group_norm") ||
        ops.contain("batch_norm"))
        return Role::Norm;
    if (ops.contain("nll_loss") || ops.contain("_loss") || ops.contain("cross_entropy") || ops.contain("_log_softmax"))
        return Role::Loss;
    if (ops.contain("softmax"))
        return Role::Softmax;
    if (ops.contain("_adam") || ops.any({"_foreach_addcdiv", "_foreach_lerp", "addcdiv"}))
        return Role::Optimizer;
    if (ops.any({"cos"}) && ops.any({"sin"}))
        return Role::Rope;
    if (ops.contain("rotary"))
        return Role::Rope;
    return std::nullopt;
}

std::optional<Role> activationRole(const Ops& ops)
{
    for (const char* backward :
         {"threshold_backward", "silu_backward", "gelu_backward", "sigmoid_backward", "tanh_backward", "elu_backward",
          "leaky_relu_backward", "hardtanh_backward", "hardswish_backward", "softplus_backward", "mish_backward",
          "glu_backward", "hardsigmoid_backward"}) {
        if (ops.any({backward}))
            return Role::ActivationGrad;
    }
    if (ops.any({"silu", "gelu", "relu", "sigmoid", "tanh", "erf", "elu", "leaky_relu", "hardtanh", "hardswish",
                 "softplus", "mish", "glu", "silu_and_mul", "gelu_and_mul", "swiglu"}))
        return Role::Activation;
    return std::nullopt;
}

/// What moves, fills or draws and computes nothing else.
Role movementRole(const Ops& ops, bool reduces)
{
    if (ops.contain("embedding"))
        return Role::Embedding;
    if (ops.contain("dropout") || ops.contain("bernoulli") ||
        ops.any({"rand", "randn", "inductor_random", "uniform", "normal"}))
        return Role::Rng;
    if (ops.any({"index", "gather", "scatter", "scatter_add", "index_put", "_unsafe_index", "_unsafe_index_put",
                 "index_select", "index_add", "index_copy", "sort", "topk", "cumsum", "argsort", "arange",
                 "masked_scatter", "nonzero"}))
        return Role::Index;
    if (reduces)
        return Role::Reduce;
    static constexpr std::array<std::string_view, 23> kViews{
        "clone",     "cat",     "copy",   "copy_",      "_unsafe_view",     "view",       "t",
        "transpose", "permute", "slice",  "split",      "split_with_sizes", "stack",      "expand",
        "unsqueeze", "squeeze", "select", "as_strided", "_reshape_alias",   "contiguous", "repeat",
        "roll",      "flip"};
    static constexpr std::array<std::string_view, 12> kFills{"full",       "zeros",     "ones",      "zero",
                                                             "fill",       "new_zeros", "new_ones",  "new_full",
                                                             "zeros_like", "ones_like", "full_like", "empty"};
    if (ops.any({"clone", "cat", "copy", "copy_", "contiguous", "stack"}) && ops.onlyOf(kViews))
        return Role::Copy;
    if (ops.any(kFills) && ops.onlyOf(kFills))
        return Role::Memset;
    return Role::Elementwise;
}

Role quantizationRole(const Quantization& q, bool lastStage)
{
    if (q.cast)
        return Role::Cast;
    if (q.amax && !(lastStage && q.scale))
        return Role::Amax;
    return Role::Scale;
}

void addQuantization(const Quantization& q, InductorWork& work)
{
    for (const auto& [has, role] : {std::pair{q.amax, Role::Amax}, {q.scale, Role::Scale}, {q.cast, Role::Cast}}) {
        if (has && role != work.role)
            work.fused.insert(role);
    }
    work.quantizes = q.any();
}

}  // namespace

std::optional<InductorName> parseInductorName(std::string_view text)
{
    static const RE2 kName("^triton_([a-z]+)_fused_([A-Za-z0-9_]*?)(?:_?[0-9]+(?:d[0-9de]*)?)?$");
    InductorName name;
    std::string ops;
    if (!RE2::FullMatch(text, kName, &name.kind, &ops))
        return std::nullopt;
    for (std::string_view rest = ops; !rest.empty();) {
        std::size_t size = joinedOp(rest);
        if (size == 0)
            size = std::min(rest.find('_', 1), rest.size());  // from 1: an op may begin with an underscore
        name.ops.emplace(rest.substr(0, size));
        rest.remove_prefix(std::min(size + 1, rest.size()));
    }
    return name;
}

InductorWork workOf(const InductorName& name)
{
    const Ops ops(name);
    if (name.kind == "tem")
        return templateWork(ops);
    const bool lastStage = name.kind == "per";
    const bool reduces = name.kind == "red" || lastStage;
    InductorWork work;
    const Quantization q = quantizationIn(ops, reduces);
    if (name.kind == "for")
        work.role = Role::Optimizer;  // "for each": what optimizers fuse over all parameters
    else if (const std::optional<Role> role = computeRole(ops))
        work.role = *role;
    else if (const std::optional<Role> activation = activationRole(ops))
        work.role = *activation;
    else if (q.any())
        work.role = quantizationRole(q, lastStage);
    else
        work.role = movementRole(ops, reduces);
    addQuantization(q, work);
    return work;
}

}  // namespace fp8scope::analysis

// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/classify/element_types.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fp8scope::analysis {
namespace {

using re2::StringPiece;

std::string_view view(StringPiece piece) { return {piece.data(), piece.size()}; }

/// One library's spelling of an element type.
struct Spelling {
    std::string_view text, type;
};

/// cuBLAS, CUTLASS and xmma, longest first where one begins another.
constexpr std::array<Spelling, 20> kTokens{{{"bf16", "bf16"}, {"fp16", "f16"},  {"f16", "f16"},   {"tf32", "tf32"},
                                            {"fp32", "f32"},  {"f32", "f32"},   {"f64", "f64"},   {"e4m3", "e4m3"},
                                            {"e5m2", "e5m2"}, {"e2m1", "e2m1"}, {"e3m2", "e3m2"}, {"e2m3", "e2m3"},
                                            {"f8", "e4m3"},   {"f4", "e2m1"},   {"int8", "int8"}, {"s32", "int32"},
                                            {"i32", "int32"}, {"s8", "int8"},   {"i8", "int8"},   {"u8", "int8"}}};
/// TensorRT-LLM's generated kernels.
constexpr std::array<Spelling, 11> kTrtTokens{{{"MxE4m3", "e4m3"},
                                               {"MxE2m1", "e2m1"},
                                               {"MxInt4", "int4"},
                                               {"E4m3", "e4m3"},
                                               {"E5m2", "e5m2"},
                                               {"E2m1", "e2m1"},
                                               {"Bfloat16", "bf16"},
                                               {"Fp16", "f16"},
                                               {"Fp32", "f32"},
                                               {"Tf32", "tf32"},
                                               {"Int8", "int8"}}};
/// Tensile (rocBLAS, hipBLASLt).
constexpr std::array<Spelling, 13> kTensileTokens{{{"F8N", "e4m3"},
                                                   {"B8N", "e5m2"},
                                                   {"F8", "e4m3"},
                                                   {"B8", "e5m2"},
                                                   {"F4", "e2m1"},
                                                   {"I8", "int8"},
                                                   {"H", "f16"},
                                                   {"B", "bf16"},
                                                   {"S", "f32"},
                                                   {"D", "f64"},
                                                   {"C", "f32"},
                                                   {"Z", "f64"},
                                                   {"X", "tf32"}}};

template <std::size_t N>
std::vector<std::string_view> elements(std::string_view text, const std::array<Spelling, N>& spellings)
{
    std::vector<std::string_view> types;
    while (!text.empty()) {
        const auto found = std::find_if(spellings.begin(), spellings.end(),
                                        [&](const Spelling& s) { return text.starts_with(s.text); });
        if (found != spellings.end())
            types.push_back(found->type);
        text.remove_prefix(found != spellings.end() ? found->text.size() : 1);
    }
    return types;
}

std::string_view element(std::string_view text)
{
    if (text.starts_with("ue") && text.find('x') != std::string_view::npos)
        text.remove_prefix(text.find('x') + 1);  // "ue4m3xe2m1": scale type x element type
    const std::vector<std::string_view> types = elements(text, kTokens);
    return types.empty() ? std::string_view() : types.front();
}

/// "gemm_e5m2e4m3bf16_e5m2e4m3f32_f32": operands and result, operands and compute, compute.
std::optional<GemmTypes> xmmaTypes(std::string_view text)
{
    static const RE2 kXmma(
        "xmma_[a-z_]+?_((?:[a-z]{1,2}[0-9]{1,2}(?:m[0-9])?)+)_((?:[a-z]{1,2}[0-9]{1,2}(?:m[0-9])?)+)_");
    StringPiece out;
    StringPiece in;
    if (!RE2::PartialMatch(text, kXmma, &out, &in))
        return std::nullopt;
    const std::vector<std::string_view> results = elements(view(out), kTokens);
    const std::vector<std::string_view> operands = elements(view(in), kTokens);
    if (results.empty() || operands.empty())
        return std::nullopt;
    return GemmTypes{operands[0], operands.size() > 2 ? operands[1] : operands[0], results.back()};
}

/// "gemm_e4m3_e4m3_f32_bf16_bf16": A, B, accumulator, C, D; A and B with their scales' type in block-scaled ones.
std::optional<GemmTypes> cutlass3Types(std::string_view text)
{
    static const RE2 kCutlass3(
        "gemm(?:_[a-z]+)*?_((?:ue[0-9]m[0-9]x)?[a-z]{1,2}[0-9]+(?:m[0-9])?)_((?:ue[0-9]m[0-9]x)?"
        "[a-z]{1,2}[0-9]+(?:m[0-9])?)_[a-z]+[0-9]+_(?:[a-z]+[0-9]+(?:m[0-9])?|void)_((?:ue[0-9]m[0-9]x)?"
        "[a-z]{1,2}[0-9]+(?:m[0-9])?)_");
    StringPiece a;
    StringPiece b;
    StringPiece d;
    if (!RE2::PartialMatch(text, kCutlass3, &a, &b, &d))
        return std::nullopt;
    return GemmTypes{element(view(a)), element(view(b)), element(view(d))};
}

/// "bf16_s16816gemm_relu_bf16_256x128": [result_]<accumulator><instruction>gemm[_epilogue][_operands]. Without operands
/// the accumulator's letter and the instruction's shape tell: s1688 takes tf32, h884 fp16, sgemm fp32.
std::optional<GemmTypes> cublasTypes(std::string_view text)
{
    static const RE2 kCublas("(?:_(bf16|f16|fp16|int8|f64|e4m3|e5m2))?_g?([shdicz])([0-9]*)(bf16|f16|tf32)?"
                             "(?:gemm|cudnn|fprop|dgrad|wgrad)");
    static const RE2 kOperands(
        "(?:gemm|cudnn|fprop|dgrad|wgrad)_(?:[a-z]+_)*?(bf16|f16|fp16|tf32|int8|s8|u8|e4m3|e5m2)_");
    StringPiece result;
    StringPiece accumulator;
    StringPiece instruction;
    StringPiece through;
    if (!RE2::PartialMatch(text, kCublas, &result, &accumulator, &instruction, &through))
        return std::nullopt;
    StringPiece operands;
    GemmTypes types;
    const char letter = accumulator[0];
    if (RE2::PartialMatch(text, kOperands, &operands))
        types.a = element(view(operands));
    else if (!through.empty())
        types.a = element(view(through));
    else if (letter == 's')
        types.a = instruction == "1688" ? "tf32" : "f32";
    else
        types.a = letter == 'h' ? "f16" : letter == 'i' ? "int8" : letter == 'd' || letter == 'z' ? "f64" : "f32";
    types.b = types.a;
    types.d = !result.empty() ? element(view(result)) : letter == 'h' ? "f16" : letter == 'i' ? "int32" : "f32";
    if (types.a == "f64")
        types.d = "f64";
    return types;
}

/// "bmm_Bfloat16_MxE2m1MxE4m3_Fp32": result, operands, accumulator.
std::optional<GemmTypes> trtTypes(std::string_view text)
{
    static const RE2 kTrt("^(?:bmm|gemm|fused_moe)_([A-Z]\\w*?)_([A-Z]\\w*?)_(?:Fp32|Fp16|Int32)_");
    StringPiece result;
    StringPiece in;
    if (!RE2::PartialMatch(text, kTrt, &result, &in))
        return std::nullopt;
    const std::vector<std::string_view> operands = elements(view(in), kTrtTokens);
    const std::vector<std::string_view> results = elements(view(result), kTrtTokens);
    if (operands.empty())
        return std::nullopt;
    return GemmTypes{operands.front(), operands.back(), results.empty() ? std::string_view() : results.front()};
}

/// "Cijk_Alik_Bljk_F8BS_BH": operands, result, compute; "SB" is one type, and B for batched.
std::optional<GemmTypes> tensileTypes(std::string_view text)
{
    static const RE2 kTensile("^Cijk_[A-Z][a-z]+_[A-Z][a-z]+_([A-Z0-9]+)");
    StringPiece tag;
    if (!RE2::PartialMatch(text, kTensile, &tag))
        return std::nullopt;
    const std::vector<std::string_view> types = elements(view(tag), kTensileTokens);
    if (types.empty())
        return std::nullopt;
    if (types.size() < 3)
        return GemmTypes{types[0], types[0], types[0]};
    const bool mixed = types.size() > 3;  // "F8B8BS": A, B, result, compute
    return GemmTypes{types[0], mixed ? types[1] : types[0], mixed ? types[2] : types[1]};
}

/// "_matmul_ogs_NNT_bf16xbf16xmxfp4": result x operand x operand.
std::optional<GemmTypes> matmulOgsTypes(std::string_view text)
{
    static const RE2 kOgs(
        "matmul_ogs_[NT]+_(mx[a-z0-9]+?|[a-wyz0-9]+)x(mx[a-z0-9]+?|[a-wyz0-9]+)x(mx[a-z0-9]+|[a-wyz0-9]+)_");
    StringPiece d;
    StringPiece a;
    StringPiece b;
    if (!RE2::PartialMatch(text, kOgs, &d, &a, &b))
        return std::nullopt;
    const auto type = [](StringPiece piece) -> std::string_view {
        const std::string_view word = view(piece);
        if (word.find("fp4") != std::string_view::npos)
            return "e2m1";
        if (word.find("fp8") != std::string_view::npos)
            return word.find("e5") != std::string_view::npos ? "e5m2" : "e4m3";
        return element(word);
    };
    return GemmTypes{type(a), type(b), type(d)};
}

/// Expressions in the order in which they are tried, each with the type that it proves.
class TypePatterns {
public:
    TypePatterns(std::initializer_list<std::pair<std::string_view, const char*>> patterns)
    {
        for (const auto& [type, pattern] : patterns)
            m_patterns.emplace_back(type, std::make_unique<RE2>(pattern));
    }
    [[nodiscard]] std::string_view firstIn(std::string_view text) const
    {
        for (const auto& [type, pattern] : m_patterns) {
            if (RE2::PartialMatch(StringPiece(text.data(), text.size()), *pattern))
                return type;
        }
        return {};
    }

private:
    std::vector<std::pair<std::string_view, std::unique_ptr<RE2>>> m_patterns;
};

/// The narrowest floating-point element type in C++ code: accumulators and scales are wider.
std::string_view narrowestCppType(std::string_view text)
{
    static const TypePatterns kTypes{
        {"e2m1", "\\b(?:float_e2m1_t|float_e2m1_unpacksmem_t|__nv_fp4\\w*|Float4_e2m1\\w*|nv_float4_t|mx_float4_t)\\b"},
        {"e5m2", "\\b(?:float_e5m2_t|__nv_fp8\\w*_e5m2|Float8_e5m2\\w*|bf8_t|bf8_fnuz_t|__hip_fp8_e5m2\\w*)\\b"},
        {"e4m3", "\\b(?:float_e4m3_t|__nv_fp8\\w*_e4m3|Float8_e4m3\\w*|f8_t|fp8_t|f8_fnuz_t|__hip_fp8_e4m3\\w*|"
                 "__nv_fp8_interpretation_t)\\b"},
        {"bf16",
         "\\b(?:__nv_bfloat16|nv_bfloat16|BFloat16|bfloat16_t|__hip_bfloat16|hip_bfloat16|bhalf_t|bf16_t|bfloat16)\\b"},
        {"f16", "\\b(?:__half|half_t|Half|half|_Float16|fp16_t|__half2)\\b"},
        {"tf32", "\\btfloat32_t\\b"},
        {"f32", "\\bfloat[234]?\\b"},
        {"f64", "\\bdouble\\b"},
        {"int8", "\\b(?:int8_t|signed char|qint8)\\b"}};
    return kTypes.firstIn(text);
}

/// A CUTLASS 3 main loop names A before B; its first element types are theirs.
std::optional<GemmTypes> mainloopTypes(std::string_view text)
{
    const std::size_t mainloop = text.find("CollectiveMma<");
    if (mainloop == std::string_view::npos)
        return std::nullopt;
    static const RE2 kElement(
        "\\b(float_e4m3_t|float_e5m2_t|float_e2m1_t|float_e2m1_unpacksmem_t|bfloat16_t|half_t|tfloat32_t|"
        "float|int8_t|signed char)\\b");
    StringPiece rest(text.data() + mainloop, text.size() - mainloop);
    StringPiece a;
    StringPiece b;
    if (!RE2::FindAndConsume(&rest, kElement, &a))
        return std::nullopt;
    if (!RE2::FindAndConsume(&rest, kElement, &b))
        b = a;
    return GemmTypes{narrowestCppType(view(a)), narrowestCppType(view(b)), {}};
}

/// The words of a function's own path: "fp8_gemm_kernel", "blockscaleFp8", "w4a16".
std::string_view typeWord(std::string_view function)
{
    static const TypePatterns kWords{
        {"e2m1", "(?i)nvfp4|mxfp4|fp4|f4gemm|(?:^|[^a-z0-9])e2m1"},
        {"e5m2", "(?i)(?:^|[^a-z0-9])e5m2|bf8"},
        {"e4m3", "(?i)fp8|float8|mxfp8|hfp8|(?:^|[^u])e4m3|fp8e4nv|block_?scaled?|w8a8_block|f8f8"},
        {"int8", "(?i)int8|(?:^|_)i8(?:_|$)|w8a8|a8w8|8bit|w4a8"},
        {"bf16", "(?i)bf16|bfloat16"},
        {"f16", "(?i)fp16|(?:^|[^a-z0-9])f16|float16"},
        {"tf32", "(?i)tf32"}};
    return kWords.firstIn(function);
}

GemmTypes bothOperands(std::string_view type) { return {type, type, {}}; }

}  // namespace

GemmTypes gemmTypes(const KernelName& name)
{
    const std::string_view text = name.text();
    for (const auto& grammar : {trtTypes, tensileTypes, matmulOgsTypes, xmmaTypes, cutlass3Types, cublasTypes}) {
        if (const std::optional<GemmTypes> types = grammar(text))
            return *types;
    }
    if (const std::optional<GemmTypes> types = mainloopTypes(text))
        return *types;
    if (const std::string_view word = typeWord(name.function()); !word.empty())
        return bothOperands(word);
    const std::string_view wrapped =
        typeWord(name.words());  // of what a wrapping kernel wraps: "device gemm fp4 gemm sm100"
    if (const Precision p = precisionOfElement(wrapped); p == Precision::Fp4 || p == Precision::Fp8)
        return bothOperands(wrapped);
    const std::string_view type = narrowestCppType(text);
    return bothOperands(type.empty() ? wrapped : type);
}

Precision precisionOfElement(std::string_view type)
{
    static constexpr std::array<std::pair<std::string_view, Precision>, 13> kPrecisions{{{"e4m3", Precision::Fp8},
                                                                                         {"e5m2", Precision::Fp8},
                                                                                         {"e2m1", Precision::Fp4},
                                                                                         {"int4", Precision::Mixed},
                                                                                         {"e3m2", Precision::Mixed},
                                                                                         {"e2m3", Precision::Mixed},
                                                                                         {"bf16", Precision::Bf16},
                                                                                         {"f16", Precision::Fp16},
                                                                                         {"tf32", Precision::Fp32},
                                                                                         {"f32", Precision::Fp32},
                                                                                         {"f64", Precision::Fp64},
                                                                                         {"int8", Precision::Int8},
                                                                                         {"int32", Precision::Int8}}};
    const auto* const found =
        std::find_if(kPrecisions.begin(), kPrecisions.end(), [&](const auto& p) { return p.first == type; });
    return found == kPrecisions.end() ? Precision::Unknown : found->second;
}

Precision precisionOf(const GemmTypes& types)
{
    const Precision a = precisionOfElement(types.a);
    const Precision b = precisionOfElement(types.b);
    for (const Precision narrow : {Precision::Fp4, Precision::Fp8}) {
        if (a == narrow || b == narrow)
            return narrow;
    }
    return a;
}

Precision elementPrecision(const KernelName& name)
{
    const Precision byType = precisionOfElement(narrowestCppType(name.text()));
    const Precision byWord = precisionOfElement(typeWord(name.function()));
    if (byWord == Precision::Fp8 || byWord == Precision::Fp4)
        return byType == Precision::Fp4 ? byType : byWord;
    return byType != Precision::Unknown ? byType : byWord;
}

}  // namespace fp8scope::analysis

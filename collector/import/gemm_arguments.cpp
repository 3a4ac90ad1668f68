// SPDX-License-Identifier: Apache-2.0
#include "collector/import/gemm_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace fp8scope::import {
namespace {

constexpr std::size_t kMostOperands = 64;  ///< a hostile file cannot make us keep more
constexpr std::size_t kNoOperand = 99;

/// Which operands of an op are multiplied. The second one is [k, n], or [n, k] for ops that take weights as stored.
struct GemmOp {
    std::string_view name;
    std::size_t a = 0, b = 1;
    bool weightIsNk = false;
    std::size_t bias = kNoOperand;
    std::size_t scaleA = kNoOperand;
    std::string_view activation = {};
};

constexpr std::array<GemmOp, 24> kGemmOps{{
    {"aten::mm"},
    {"aten::addmm", 1, 2, false, 0},
    {"aten::_addmm_activation", 1, 2, false, 0, kNoOperand, "relu"},
    {"aten::bmm"},
    {"aten::baddbmm", 1, 2},
    {"aten::linear", 0, 1, true, 2},
    {"aten::mv"},
    {"aten::addmv", 1, 2},
    {"aten::_int_mm"},
    {"aten::_scaled_mm", 0, 1, false, 4, 2},
    {"aten::_scaled_mm_v2", 0, 1},
    {"aten::_scaled_grouped_mm", 0, 1, false, kNoOperand, 2},
    {"aten::_grouped_mm"},
    {"_C::cutlass_scaled_mm", 1, 2, false, 5, 3},
    {"_C::cutlass_scaled_mm_azp", 1, 2},
    {"vllm::cutlass_scaled_mm", 1, 2},
    {"sgl_kernel::fp8_scaled_mm", 0, 1, false, kNoOperand, 2},
    {"vllm::rocm_unquantized_gemm", 0, 1, true},
    {"aiter::gemm_a8w8", 0, 1, true, kNoOperand, 2},
    {"aiter::gemm_a8w8_blockscale", 0, 1, true, kNoOperand, 2},
    {"trtllm::fp8_block_scaling_gemm", 0, 1, true},
    {"transformer_engine::gemm", 0, 1, true},
    {"mkldnn::_linear_pointwise", 0, 1, true},
    {"aten::mkldnn_linear", 0, 1, true},
}};

const GemmOp* find(std::string_view name)
{
    if (name.starts_with("aten::") && name.ends_with("_out"))
        name.remove_suffix(4);
    const auto* const op =
        std::find_if(kGemmOps.begin(), kGemmOps.end(), [&](const GemmOp& o) { return o.name == name; });
    return op == kGemmOps.end() ? nullptr : op;
}

int bitsOf(std::string_view type)
{
    if (type == "e4m3" || type == "e5m2" || type == "int8")
        return 8;
    if (type == "e2m1")
        return 4;
    return type == "f32" ? 32 : type == "f64" ? 64 : 16;
}

using Shape = std::vector<std::int64_t>;

std::int64_t product(Shape::const_iterator first, Shape::const_iterator last)
{
    double size = 1;  // hostile shapes overflow 64 bits; what does is no shape
    for (auto dim = first; dim != last; ++dim)
        size *= static_cast<double>(*dim);
    return size < 1e15 && size > 0 ? static_cast<std::int64_t>(size) : 0;
}

/// X [.., m, k] times W [k, n] (or [n, k]); with a batch dimension on both sides it is a batch of products. Grouped
/// products may have it on one side only: then the other side's rows (or its k) are shared out among the groups, and
/// all of them together do the work of one product.
bool setShape(const GemmOp& op, const Shape& x, const Shape& w, GemmArguments& gemm)
{
    if (x.empty() || w.empty())
        return false;
    gemm.k = x.back();
    if (x.size() >= 3 && w.size() == 3) {
        gemm.batch = product(x.begin(), x.end() - 2);
        gemm.m = x[x.size() - 2];
    } else {
        gemm.m = x.size() == 1 ? 1 : product(x.begin(), x.end() - 1);
    }
    if (w.size() == 1) {
        gemm.n = 1;
        return w[0] == gemm.k && gemm.m > 0;
    }
    const std::int64_t rows = w[w.size() - 2];
    const std::int64_t columns = w.back();
    gemm.n = op.weightIsNk ? rows : columns;
    return (op.weightIsNk ? columns : rows) == gemm.k && gemm.m > 0 && gemm.n > 0 && gemm.k > 0 && gemm.batch > 0;
}

/// torch.ScalarType as the writer prints it among the concrete inputs.
std::string_view outputType(const GemmOp& op, const Arguments& arguments, const std::string& aType)
{
    if (bitsOf(aType) > 8)
        return aType;
    if (!op.name.starts_with("aten::_scaled"))
        return {};
    for (const std::string& value : parseTypes(arguments.concrete)) {
        if (value == "15")
            return "bf16";
        if (value == "5")
            return "f16";
        if (value == "6")
            return "f32";
    }
    return {};
}

/// How fine the scales are: one a tensor, one a row, one a block.
std::string_view recipeOf(const Shape& scale, const GemmArguments& gemm, std::string_view scaleType)
{
    const std::int64_t count = scale.empty() ? 1 : product(scale.begin(), scale.end());
    if (scaleType == "e8m0")
        return "mxfp8";
    if (count == 1)
        return "tensorwise";
    if (count == gemm.m)
        return "rowwise";
    return count > gemm.m ? "blockwise" : "";
}

/// Reads one JSON-like list; `onItem` gets each item of depth one as text.
template <typename OnItem>
void forEachItem(std::string_view text, OnItem&& onItem)
{
    int depth = 0;
    bool quoted = false;
    std::size_t first = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size() && count < kMostOperands; ++i) {
        const char c = text[i];
        if (c == '"')
            quoted = !quoted;
        if (quoted)
            continue;
        if (c == '[' && ++depth == 1)
            first = i + 1;
        const bool ends = (c == ',' && depth == 1) || (c == ']' && --depth == 0);
        if (!ends)
            continue;
        onItem(text.substr(first, i - first));
        ++count;
        first = i + 1;
    }
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\n\"'");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\n\"'") - first + 1);
}

Shape parseShape(std::string_view text)
{
    Shape shape;
    bool isList = false;
    forEachItem(trimmed(text), [&](std::string_view item) {
        item = trimmed(item);
        std::int64_t dim = 0;
        const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), dim);
        if (error == std::errc() && end == item.data() + item.size() && dim >= 0)
            shape.push_back(dim);
        else
            isList = isList || !item.empty();
    });
    return isList ? Shape{} : shape;
}

}  // namespace

double GemmArguments::flops() const
{
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batch);
}

std::uint64_t GemmArguments::leastBytes() const
{
    const auto bytes = [this](std::int64_t rows, std::int64_t columns, const std::string& type) {
        return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(batch) * bitsOf(type) / 8;
    };
    return static_cast<std::uint64_t>(
        std::llround(bytes(m, k, aType) + bytes(k, n, bType) + bytes(m, n, dType.empty() ? "bf16" : dType)));
}

std::string_view elementType(std::string_view type)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kTypes{{
        {"c10::BFloat16", "bf16"},
        {"BFloat16", "bf16"},
        {"bfloat16", "bf16"},
        {"c10::Half", "f16"},
        {"Half", "f16"},
        {"float16", "f16"},
        {"float", "f32"},
        {"Float", "f32"},
        {"float32", "f32"},
        {"double", "f64"},
        {"Double", "f64"},
        {"signed char", "int8"},
        {"Char", "int8"},
        {"unsigned char", "u8"},
        {"Byte", "u8"},
        {"int", "i32"},
        {"Int", "i32"},
        {"long int", "i64"},
        {"long", "i64"},
        {"bool", "bool"},
        {"c10::complex<float>", "c64"},
        {"c10::Float8_e8m0fnu", "e8m0"},
        {"Float8_e8m0fnu", "e8m0"},
        {"c10::Float4_e2m1fn_x2", "e2m1"},
    }};
    if (type.find("Float8_e4m3") != std::string_view::npos)
        return "e4m3";  // e4m3fn and AMD's e4m3fnuz
    if (type.find("Float8_e5m2") != std::string_view::npos)
        return "e5m2";
    const auto* const found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == type; });
    return found == kTypes.end() ? std::string_view() : found->second;
}

std::vector<Shape> parseShapes(std::string_view text)
{
    std::vector<Shape> shapes;
    forEachItem(text, [&](std::string_view item) { shapes.push_back(parseShape(item)); });
    return shapes;
}

std::vector<std::string> parseTypes(std::string_view text)
{
    std::vector<std::string> types;
    forEachItem(text, [&](std::string_view item) { types.emplace_back(trimmed(item)); });
    return types;
}

bool isGemmOp(std::string_view op) { return find(op) != nullptr; }

std::optional<GemmArguments> gemmOf(std::string_view name, const Arguments& arguments)
{
    const GemmOp* op = find(name);
    if (op == nullptr)
        return std::nullopt;
    const std::vector<Shape> shapes = parseShapes(arguments.dims);
    GemmArguments gemm;
    if (shapes.size() <= std::max(op->a, op->b) || !setShape(*op, shapes[op->a], shapes[op->b], gemm))
        return std::nullopt;
    std::vector<std::string> types = parseTypes(arguments.types);
    types.resize(std::max(types.size(), shapes.size()));
    gemm.aType = elementType(types[op->a]);
    gemm.bType = elementType(types[op->b]);
    gemm.dType = outputType(*op, arguments, gemm.aType);
    if (op->bias < shapes.size() && product(shapes[op->bias].begin(), shapes[op->bias].end()) == gemm.n &&
        !shapes[op->bias].empty())  // a whole matrix there is what the product is added to
        gemm.epilogue = op->activation.empty() ? "bias" : std::string(op->activation) + "_bias";
    if (op->scaleA < shapes.size() && bitsOf(gemm.aType) <= 8)
        gemm.recipe = recipeOf(shapes[op->scaleA], gemm, elementType(types[op->scaleA]));
    const std::vector<Shape> strides = parseShapes(arguments.strides);
    if (op->a < strides.size() && strides[op->a].size() >= 2) {
        const Shape& s = strides[op->a];
        gemm.firstIsTransposed = s[s.size() - 2] == 1 && s.back() > 1;
    }
    return gemm;
}

}  // namespace fp8scope::import

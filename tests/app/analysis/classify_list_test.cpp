// SPDX-License-Identifier: Apache-2.0
// The classifier on names that others recorded, with their true roles (../shared/data/kernel_names.tsv).
#include "app/analysis/classify/kernel_classifier.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::analysis {
namespace {

using R = Role;
/// The list's role words are finer than the program's. Where one of them covers several of ours, any is right.
const std::map<std::string_view, std::set<Role>> kRolesOf{
    {"gemm_fp8", {R::Gemm}},
    {"gemm_16bit", {R::Gemm}},
    {"gemm_fp32_tf32", {R::Gemm}},
    {"gemm_fp4", {R::Gemm}},
    {"gemm_int8", {R::Gemm}},
    {"gemv", {R::Gemm}},
    {"gemm_aux", {R::Gemm}},
    {"conv_aux", {R::Gemm}},
    {"gemm_epilogue_unfused", {R::Bias}},
    {"cast_quant", {R::Cast}},
    {"cast_transpose", {R::CastTranspose}},
    {"amax", {R::Amax}},
    {"scale_update", {R::Scale}},
    {"scale_layout", {R::ScaleLayout}},
    {"dequant", {R::Cast}},
    {"act_quant_fused", {R::Activation}},
    {"act_amax_fused", {R::Activation}},
    {"act_cast_transpose_fused", {R::Activation, R::ActivationGrad}},
    {"cast_transpose_dbias_fused", {R::CastTranspose}},
    {"cast_dbias_fused", {R::Cast}},
    {"norm_quant_fused", {R::Norm}},
    {"norm_amax_fused", {R::Norm}},
    {"dbias", {R::BiasGrad}},
    {"bias", {R::Bias}},
    {"activation", {R::Activation, R::ActivationGrad}},
    {"attention", {R::Attention}},
    {"comm", {R::Comm}},
    {"copy", {R::Copy}},
    {"copy_cast", {R::Copy}},
    {"dropout_random", {R::Rng}},
    {"elementwise", {R::Elementwise}},
    {"embedding", {R::Embedding}},
    {"fill", {R::Memset}},
    {"index", {R::Index}},
    {"kv_cache", {R::Copy}},
    {"loss", {R::Loss}},
    {"memcpy", {R::Memcpy, R::Memset}},
    {"moe_permute", {R::Index}},
    {"moe_route", {R::Index}},
    {"norm", {R::Norm}},
    {"optimizer", {R::Optimizer}},
    {"grad_norm", {R::Optimizer}},
    {"pad", {R::Pad}},
    {"reduction", {R::Reduce}},
    {"rope", {R::Rope}},
    {"softmax", {R::Softmax}},
    {"sort_scan", {R::Index}},
    {"transpose", {R::Transpose}},
    {"unknown", {R::Other}},
    {"idle_spin", {R::Sync}}};
const std::set<std::string_view> kMustAllBeRight{"gemm_fp8",
                                                 "cast_quant",
                                                 "cast_transpose",
                                                 "amax",
                                                 "scale_update",
                                                 "scale_layout",
                                                 "dequant",
                                                 "act_quant_fused",
                                                 "act_amax_fused",
                                                 "act_cast_transpose_fused",
                                                 "cast_transpose_dbias_fused",
                                                 "cast_dbias_fused",
                                                 "norm_quant_fused",
                                                 "norm_amax_fused",
                                                 "transpose",
                                                 "pad"};

struct Entry {
    std::string name, role, source;
};

std::vector<Entry> readList(const std::filesystem::path& path)
{
    std::vector<Entry> entries;
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);  // the header
    while (std::getline(in, line)) {
        std::istringstream fields(line);
        Entry e;
        std::string skipped;
        std::getline(fields, e.name, '\t');
        std::getline(fields, e.role, '\t');
        std::getline(fields, skipped, '\t');
        std::getline(fields, skipped, '\t');
        std::getline(fields, e.source, '\t');
        if (!e.source.starts_with("shape"))
            entries.push_back(std::move(e));
    }
    return entries;
}

TEST(KernelListTest, NinetySevenPercentOfTheExactNamesAreRight)
{
    const std::filesystem::path path =
        std::filesystem::path(FP8SCOPE_SOURCE_FOLDER) / "../shared/data/kernel_names.tsv";
    if (!std::filesystem::exists(path))
        GTEST_SKIP() << "needs the list of names beside the source: " << path;
    const std::vector<Entry> list = readList(path);
    ASSERT_GT(list.size(), 500U);
    std::vector<std::string_view> names;
    for (const Entry& e : list)
        names.push_back(e.name);
    const std::vector<KernelClass> classes = KernelClassifier::builtIn().classify(names);
    std::size_t right = 0;
    std::string wrong;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto expected = kRolesOf.find(list[i].role);
        ASSERT_NE(expected, kRolesOf.end()) << list[i].role;
        const bool isRight = expected->second.contains(classes[i].role);
        right += isRight ? 1 : 0;
        if (!isRight)
            wrong += "\n" + list[i].role + " as " + std::string(toString(classes[i].role)) + ": " +
                     list[i].name.substr(0, 160);
        EXPECT_TRUE(isRight || !kMustAllBeRight.contains(list[i].role)) << list[i].role << ": " << list[i].name;
        EXPECT_TRUE(list[i].role != "gemm_fp8" || classes[i].precision == Precision::Fp8 ||
                    classes[i].precision == Precision::Unknown)
            << list[i].name;
        const bool mayBeFp8 = list[i].role == "gemm_fp8" || list[i].role == "gemm_aux";
        EXPECT_TRUE(mayBeFp8 || classes[i].role != Role::Gemm || classes[i].precision != Precision::Fp8)
            << list[i].name;
    }
    const double share = static_cast<double>(right) / static_cast<double>(list.size());
    RecordProperty("right", std::to_string(share));
    EXPECT_GE(share, 0.97) << wrong;
}

}  // namespace
}  // namespace fp8scope::analysis

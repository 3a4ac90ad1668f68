// SPDX-License-Identifier: Apache-2.0
// Rule files: what a user may write, what is refused and where, and whose rules come first.
#include "app/analysis/classify/check_rules.h"
#include "app/analysis/classify/classify.h"
#include "collector/trace/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace fp8scope::analysis {
namespace {

using testing::HasSubstr;

std::string errorOf(std::string_view toml)
{
    try {
        (void)parseRules(toml, "own.toml");
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

TEST(RuleFileTest, ARuleSaysRolePrecisionAndLibrary)
{
    const RuleFile file = parseRules(
        "[[rule]]\nid = \"a\"\nfunction = '^mine::'\nrole = \"cast\"\nfused = [\"bias_grad\"]\n"
        "precision = \"fp8\"\nlibrary = \"Mine\"\n\n[[op]]\nid = \"b\"\nname = 'mine::op'\nrole = \"gemm\"\n",
        "own.toml");
    ASSERT_EQ(file.rules.size(), 1U);
    EXPECT_EQ(file.rules[0].role, Role::Cast);
    EXPECT_TRUE(file.rules[0].fused.contains(Role::BiasGrad));
    EXPECT_EQ(file.rules[0].precision, Precision::Fp8);
    EXPECT_EQ(file.rules[0].line, 1U);
    ASSERT_EQ(file.ops.size(), 1U);
    EXPECT_EQ(file.ops[0].role, Role::Gemm);
}

TEST(RuleFileTest, ErrorsNameFileAndLine)
{
    EXPECT_THAT(errorOf("[[rule]]\nid = \"a\"\nfunction = '(' \nrole = \"cast\"\n"),
                HasSubstr("own.toml:3: '(' is no regular expression"));
    EXPECT_THAT(errorOf("[[rule]]\nid = \"a\"\nfunction = 'x'\nrole = \"quantise\"\n"),
                HasSubstr("own.toml:4: 'quantise' is no role"));
    EXPECT_THAT(errorOf("[[rule]]\nid = \"a\"\nrole = \"cast\"\n"), HasSubstr("would take every kernel"));
    EXPECT_THAT(errorOf("[[rule]]\nfunction = 'x'\nrole = \"cast\"\n"), HasSubstr("has no id"));
    EXPECT_THAT(errorOf("[[rule]]\nid = \"a\"\nfunktion = 'x'\nrole = \"cast\"\n"),
                HasSubstr("own.toml:3: 'funktion' is no key"));
    EXPECT_THAT(errorOf("[[rule]]\nid = \"a\"\nfunction = 'x'\nrole = \"cast\"\n[[rule]]\nid = \"a\"\nfunction = "
                        "'y'\nrole = \"cast\"\n"),
                HasSubstr("own.toml:5: the id 'a' is used twice"));
    EXPECT_THAT(errorOf("[[rule]]\nid = \"a\"\nfunction = 3\nrole = \"cast\"\n"), HasSubstr("'function' is no text"));
    EXPECT_THAT(errorOf("[[rules]]\nid = \"a\"\n"), HasSubstr("neither [[rule]] nor [[op]]"));
    EXPECT_THAT(errorOf("rule = 3\n"), HasSubstr("begin each with [[rule]]"));
    EXPECT_THAT(errorOf("[[rule]\n"), HasSubstr("own.toml:1"));
}

TEST(RuleFileTest, AUsersRulesComeBeforeTheBuiltInOnes)
{
    const std::array<std::pair<std::string, std::string>, 1> own{
        {{"own.toml", "[[rule]]\nid = \"mine\"\nfunction = '^nvjet_tst_'\nrole = \"attention\"\n"}}};
    const KernelClassifier classifier = classifierWith(own);
    EXPECT_EQ(classifier.classify("nvjet_tst_128x128_64x4_1x2_h_bz_TNT").rule, "mine");
    EXPECT_EQ(classifier.classify("nvjet_hsh_128x128_64x4_1x2_h_bz_TNT").rule, "nvjet");
}

TEST(RuleFileTest, ShadowedAndUnmatchedRulesAreFound)
{
    const RuleFile file = parseRules("[[rule]]\nid = \"all\"\nfunction = '^nvjet'\nrole = \"gemm\"\n"
                                     "[[rule]]\nid = \"never\"\nfunction = '^nvjet_tst'\nrole = \"gemm\"\n"
                                     "[[rule]]\nid = \"none\"\nfunction = '^no_such_kernel$'\nrole = \"cast\"\n",
                                     "own.toml");
    const KernelClassifier classifier(std::span(&file, 1));
    const std::array<std::string_view, 2> names{"nvjet_tst_64x8", "nvjet_hsh_64x8"};
    const std::vector<RuleUse> uses = ruleUses(classifier, names);
    ASSERT_EQ(uses.size(), 3U);
    EXPECT_EQ(uses[0].decides, 2U);
    EXPECT_EQ(uses[0].shadow, nullptr);
    ASSERT_NE(uses[1].shadow, nullptr);
    EXPECT_EQ(uses[1].shadow->id, "all");
    EXPECT_EQ(uses[2].takes, 0U);
    EXPECT_EQ(uses[2].shadow, nullptr);
}

}  // namespace
}  // namespace fp8scope::analysis

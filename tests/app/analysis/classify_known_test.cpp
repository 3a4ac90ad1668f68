// SPDX-License-Identifier: Apache-2.0
// The built-in rules on the names that the program carries: every role and precision of them, and how fast.
#include "app/analysis/classify/check_rules.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace fp8scope::analysis {
namespace {

TEST(KnownKernelsTest, EveryOneIsClassifiedAsItSays)
{
    const KernelClassifier classifier = KernelClassifier::builtIn();
    const std::vector<KnownKernel> known = knownKernels();
    ASSERT_GE(known.size(), 200U);
    for (const KnownKernel& kernel : known) {
        const KernelClass c = classifier.classify(kernel.name);
        EXPECT_EQ(toString(c.role), toString(kernel.role)) << kernel.name << "\n  by rule " << c.rule;
        EXPECT_EQ(toString(c.precision), toString(kernel.precision)) << kernel.name << "\n  by rule " << c.rule;
    }
}

TEST(KnownKernelsTest, NoRoleThatMattersToFp8IsMissing)
{
    const std::vector<KnownKernel> known = knownKernels();
    for (const Role role :
         {Role::Gemm, Role::Amax, Role::Scale, Role::Cast, Role::Transpose, Role::CastTranspose, Role::ScaleLayout,
          Role::Pad, Role::Comm, Role::Sync, Role::Optimizer, Role::Attention, Role::Norm}) {
        EXPECT_TRUE(std::any_of(known.begin(), known.end(), [&](const KnownKernel& k) { return k.role == role; }))
            << toString(role);
    }
}

TEST(KnownKernelsTest, LongNamesTakeNoLongerThanTheyAreLong)
{
    const KernelClassifier classifier = KernelClassifier::builtIn();
    std::string name = "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<";
    for (int i = 0; i < 200; ++i)
        name += "at::native::BinaryFunctor<c10::BFloat16, ";
    name += "float> >(int)";
    ASSERT_GT(name.size(), 5000U);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i)
        EXPECT_EQ(classifier.classify(name).role, Role::Elementwise);
    const auto perName = (std::chrono::steady_clock::now() - start) / 100;
    EXPECT_LT(perName, std::chrono::milliseconds(20));  // about 0.2 ms here; a backtracking matcher needs seconds
}

TEST(KnownKernelsTest, HostileNamesAreOther)
{
    const KernelClassifier classifier = KernelClassifier::builtIn();
    for (const std::string& name : {std::string(), std::string("<<<<((("), std::string(">>>)))"), std::string("_Z"),
                                    std::string("_ZN99999999999999999999foo"), std::string(3, '\0'),
                                    std::string("\xff\xfe(int)"), std::string(100'000, '<'), std::string(100'000, '(')})
        EXPECT_EQ(classifier.classify(name).role, Role::Other);
}

}  // namespace
}  // namespace fp8scope::analysis

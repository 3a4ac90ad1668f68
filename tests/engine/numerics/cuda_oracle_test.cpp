// SPDX-License-Identifier: Apache-2.0
// The conversions against NVIDIA's, whose headers compile for the host. Built where a CUDA toolkit is found.
#include "engine/numerics/formats.h"

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace fp8scope {
namespace {

std::uint8_t nvidiaCode(float value, DType type)
{
    return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, type == DType::E4m3 ? __NV_E4M3 : __NV_E5M2);
}

float nvidiaValue(std::uint8_t code, DType type)
{
    const auto half = __nv_cvt_fp8_to_halfraw(code, type == DType::E4m3 ? __NV_E4M3 : __NV_E5M2);
    return __half2float(__half(half));
}

class CudaOracle : public testing::TestWithParam<DType> {
protected:
    static void expectSameCode(float value)
    {
        const std::uint8_t ours = encodeFp8(value, GetParam());
        const std::uint8_t theirs = nvidiaCode(value, GetParam());
        // On the host their NaN keeps the sign and payload; on the device, and here, it is 0x7f.
        if (std::isnan(value))
            ASSERT_TRUE(std::isnan(nvidiaValue(theirs, GetParam())) && ours == kFp8Nan);
        else
            ASSERT_EQ(ours, theirs) << value;
    }
};

TEST_P(CudaOracle, All256CodesDecodeAlike)
{
    for (unsigned code = 0; code < 256; ++code) {
        const float ours = decodeFp8(static_cast<std::uint8_t>(code), GetParam());
        const float theirs = nvidiaValue(static_cast<std::uint8_t>(code), GetParam());
        if (std::isnan(theirs))
            EXPECT_TRUE(std::isnan(ours)) << code;
        else
            EXPECT_EQ(std::bit_cast<std::uint32_t>(ours), std::bit_cast<std::uint32_t>(theirs)) << code;
    }
}

TEST_P(CudaOracle, All65536Bf16EncodeAlike)
{
    for (unsigned bits = 0; bits < 65536; ++bits)
        expectSameCode(decodeBf16(static_cast<std::uint16_t>(bits)));
}

TEST_P(CudaOracle, RandomFloatsEncodeAlike)
{
    std::mt19937 random(3);
    for (int i = 0; i < 500'000; ++i)
        expectSameCode(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
}

INSTANTIATE_TEST_SUITE_P(Both, CudaOracle, testing::Values(DType::E4m3, DType::E5m2),
                         [](const auto& test) { return std::string(toString(test.param)); });

TEST(CudaOracle, RandomFloatsRoundToTheSameBf16)
{
    std::mt19937 random(5);
    for (int i = 0; i < 500'000; ++i) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        ASSERT_EQ(encodeBf16(value), std::bit_cast<std::uint16_t>(__float2bfloat16_rn(value))) << value;
    }
}

}  // namespace
}  // namespace fp8scope

// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/arena.h"

#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace fp8scope::cpu {

using plan::TensorId;

Arena::Arena(const plan::StepPlan& plan) : m_plan(&plan), m_memory(plan.arenaBytes)
{
    for (std::uint32_t i = 0; i < plan.tensors.size(); ++i) {
        const plan::Tensor& tensor = plan.tensors[i];
        assert(tensor.offset + tensor.bytes() <= m_memory.size());
        if (tensor.persistent && !tensor.viewOf.valid() && tensor.initialValue != 0)
            write(TensorId(i), std::vector<float>(static_cast<std::size_t>(tensor.elements()), tensor.initialValue));
    }
}

std::span<std::byte> Arena::bytes(TensorId id)
{
    const plan::Tensor& tensor = m_plan->tensor(id);
    return m_memory.bytes().subspan(tensor.offset, tensor.bytes());
}

template <typename T>
std::span<T> Arena::as(TensorId id, DType expected)
{
    const plan::Tensor& tensor = m_plan->tensor(id);
    if (tensor.type != expected)
        throw Error(
            fmt::format("tensor '{}' is {} where {} is needed", tensor.name, toString(tensor.type), toString(expected)),
            "CPU executor", "this is a mistake in the plan: please report it");
    return {reinterpret_cast<T*>(m_memory.data() + tensor.offset), static_cast<std::size_t>(tensor.elements())};
}
template std::span<float> Arena::as(TensorId, DType);
template std::span<double> Arena::as(TensorId, DType);
template std::span<std::int32_t> Arena::as(TensorId, DType);
template std::span<kernels::Bf16> Arena::as(TensorId, DType);

std::span<kernels::Fp8> Arena::fp8(TensorId id)
{
    assert(isFp8(m_plan->tensor(id).type));
    const std::span<std::byte> raw = bytes(id);
    return {reinterpret_cast<kernels::Fp8*>(raw.data()), raw.size()};
}

std::span<std::uint8_t> Arena::e8m0(TensorId id)
{
    assert(m_plan->tensor(id).type == DType::E8m0);
    const std::span<std::byte> raw = bytes(id);
    return {reinterpret_cast<std::uint8_t*>(raw.data()), raw.size()};
}

double Arena::scalar(TensorId id) { return m_plan->tensor(id).type == DType::F64 ? f64(id)[0] : f32(id)[0]; }

void Arena::setScalar(TensorId id, double value)
{
    if (m_plan->tensor(id).type == DType::F64)
        f64(id)[0] = value;
    else
        f32(id)[0] = static_cast<float>(value);
}

std::vector<float> Arena::read(TensorId id)
{
    const DType type = m_plan->tensor(id).type;
    std::vector<float> values(static_cast<std::size_t>(m_plan->tensor(id).elements()));
    const auto convert = [&](auto elements, auto decode) {
        std::transform(elements.begin(), elements.end(), values.begin(), decode);
    };
    switch (type) {
    case DType::F32: convert(f32(id), [](float v) { return v; }); break;
    case DType::F64: convert(f64(id), [](double v) { return static_cast<float>(v); }); break;
    case DType::I32: convert(i32(id), [](std::int32_t v) { return static_cast<float>(v); }); break;
    case DType::Bf16: convert(bf16(id), [](kernels::Bf16 v) { return decodeBf16(v); }); break;
    case DType::E4m3:
    case DType::E5m2: convert(fp8(id), [type](kernels::Fp8 v) { return decodeFp8(v, type); }); break;
    case DType::E8m0: convert(e8m0(id), decodeE8m0); break;
    }
    return values;
}

void Arena::write(TensorId id, std::span<const float> values)
{
    const plan::Tensor& tensor = m_plan->tensor(id);
    if (values.size() != static_cast<std::size_t>(tensor.elements()))
        throw Error(fmt::format("tensor '{}' has {} elements, not {}", tensor.name, tensor.elements(), values.size()),
                    "CPU executor", "give one value for each element");
    const auto convert = [&](auto elements, auto encode) {
        std::transform(values.begin(), values.end(), elements.begin(), encode);
    };
    switch (tensor.type) {
    case DType::F32: convert(f32(id), [](float v) { return v; }); break;
    case DType::F64: convert(f64(id), [](float v) { return double{v}; }); break;
    case DType::I32: convert(i32(id), [](float v) { return static_cast<std::int32_t>(v); }); break;
    case DType::Bf16: convert(bf16(id), [](float v) { return encodeBf16(v); }); break;
    case DType::E4m3:
    case DType::E5m2: convert(fp8(id), [&](float v) { return encodeFp8(v, tensor.type); }); break;
    case DType::E8m0: throw Error(fmt::format("tensor '{}' holds e8m0 scales", tensor.name), "CPU executor", "");
    }
}

}  // namespace fp8scope::cpu

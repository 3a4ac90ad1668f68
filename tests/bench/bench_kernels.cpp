// SPDX-License-Identifier: Apache-2.0
// Kernels on one core against this machine's copy bandwidth. Counter "of_copy" is the bytes that a kernel must read and
// write per second over the bytes that memcpy reads and writes per second on a bf16 tensor of the same shape, measured
// in the same run. Shapes: within the L2 cache, within the L3 cache, beyond it. FP8SCOPE_SIMD lowers the vector level.
#include "engine/kernels/cpu_kernels.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <random>

namespace fp8scope::kernels {
namespace {

const CpuKernels& kernelsOfThisRun()
{
    const char* limit = std::getenv("FP8SCOPE_SIMD");
    return cpuKernels(vectorLevelFor(limit == nullptr ? "" : limit));
}

/// A bf16 matrix and room for whatever a kernel makes of it.
struct Tensors {
    explicit Tensors(const benchmark::State& state)
        : shape{.rows = state.range(0), .cols = state.range(1), .begin = 0, .end = state.range(0)},
          n(static_cast<std::size_t>(shape.rows * shape.cols)), x(n), y(n), q(n), qT(n),
          partials(static_cast<std::size_t>(columnSumBlocks(shape.rows) * shape.cols)),
          sums(static_cast<std::size_t>(shape.cols))
    {
        std::mt19937 random(1);
        std::normal_distribution<float> normal;
        for (std::size_t i = 0; i < n; ++i)
            x[i] = i < 65536 ? encodeBf16(normal(random)) : x[i - 65536];
    }
    [[nodiscard]] CastTransposeArgs args(float* columnPartials = nullptr)
    {
        return {.x = x.data(),
                .scale = 100,
                .format = DType::E4m3,
                .part = shape,
                .q = q.data(),
                .qTransposed = qT.data(),
                .columnPartials = columnPartials};
    }

    RowRange shape;
    std::size_t n;
    std::vector<Bf16> x, y;
    std::vector<Fp8> q, qT;
    std::vector<float> partials, sums;
};

/// Bytes read and written per second of CPU time by memcpy between bf16 tensors of n elements: the best of several
/// runs. CPU time, here and in the benchmarks, for other programs may use the cores.
double copyRate(std::size_t n)
{
    static std::map<std::size_t, double> rates;
    if (const auto known = rates.find(n); known != rates.end())
        return known->second;
    std::vector<Bf16> from(n, 1), to(n, 2);
    const std::size_t repeats = std::max<std::size_t>(1, (std::size_t{64} << 20) / n);
    double best = 0;
    for (int run = 0; run < 12; ++run) {
        const std::clock_t start = std::clock();
        for (std::size_t i = 0; i < repeats; ++i) {
            std::memcpy(to.data(), from.data(), n * sizeof(Bf16));
            benchmark::ClobberMemory();
        }
        const double elapsed = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        best = std::max(best, static_cast<double>(2 * sizeof(Bf16) * n * repeats) / elapsed);
    }
    return rates[n] = best;
}

/// Runs `pass` and reports its rate; bytesPerElement is what it must read and write.
template <class Pass>
void measure(benchmark::State& state, const Tensors& tensors, double bytesPerElement, const Pass& pass)
{
    const double copy = copyRate(tensors.n);
    for (auto _ : state) {
        pass();
        benchmark::ClobberMemory();
    }
    const double bytes = bytesPerElement * static_cast<double>(tensors.n) * static_cast<double>(state.iterations());
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
    state.SetItemsProcessed(static_cast<std::int64_t>(tensors.n) * state.iterations());
    state.counters["of_copy"] = benchmark::Counter(bytes / copy, benchmark::Counter::kIsRate);
    state.SetLabel(std::string(toString(kernelsOfThisRun().level)));
}

void copyTensor(benchmark::State& state)
{
    Tensors t(state);
    measure(state, t, 4, [&] { std::memcpy(t.y.data(), t.x.data(), t.n * sizeof(Bf16)); });
}

void amaxOnly(benchmark::State& state)
{
    Tensors t(state);
    measure(state, t, 2, [&] { benchmark::DoNotOptimize(kernelsOfThisRun().amax(t.x)); });
}

void castWithAmax(benchmark::State& state)
{
    Tensors t(state);
    measure(state, t, 3, [&] { benchmark::DoNotOptimize(kernelsOfThisRun().cast(t.x, 100, DType::E4m3, t.q)); });
}

/// Tensorwise scaling needs the amax first: two reads of x.
void amaxThenCast(benchmark::State& state)
{
    Tensors t(state);
    measure(state, t, 5, [&] {
        benchmark::DoNotOptimize(kernelsOfThisRun().amax(t.x));
        benchmark::DoNotOptimize(kernelsOfThisRun().cast(t.x, 100, DType::E4m3, t.q));
    });
}

/// The six passes of eager torchao: 33 bytes an element.
void eagerChain(benchmark::State& state)
{
    Tensors t(state);
    std::vector<float> wide(t.n), scaled(t.n);
    const CpuKernels& k = kernelsOfThisRun();
    measure(state, t, 4 + 2 + 6 + 8 + 8 + 5, [&] {
        k.abs(t.x, t.y);
        benchmark::DoNotOptimize(k.maxReduce(t.y));
        k.toF32(t.x, wide);
        k.mulScale(wide, 100, scaled);
        benchmark::DoNotOptimize(k.clamp(scaled, 448, wide));
        benchmark::DoNotOptimize(k.toFp8(wide, DType::E4m3, t.q));
    });
}

void transpose(benchmark::State& state)
{
    Tensors t(state);
    measure(state, t, 2, [&] { kernelsOfThisRun().transpose(t.q.data(), t.shape, t.qT.data()); });
}

void castThenTranspose(benchmark::State& state)
{
    Tensors t(state);
    measure(state, t, 5, [&] {
        benchmark::DoNotOptimize(kernelsOfThisRun().cast(t.x, 100, DType::E4m3, t.q));
        kernelsOfThisRun().transpose(t.q.data(), t.shape, t.qT.data());
    });
}

void castTransposeWithAmax(benchmark::State& state)
{
    Tensors t(state);
    measure(state, t, 4, [&] { benchmark::DoNotOptimize(kernelsOfThisRun().castTranspose(t.args())); });
}

void castTransposeDbias(benchmark::State& state)
{
    Tensors t(state);
    measure(state, t, 4, [&] {
        benchmark::DoNotOptimize(kernelsOfThisRun().castTranspose(t.args(t.partials.data())));
        kernelsOfThisRun().reduceColumns(t.partials.data(), t.shape.rows, t.shape.cols, 0, t.shape.cols, t.sums.data());
    });
}

void actCastTranspose(benchmark::State& state, ActivationKind kind)
{
    Tensors t(state);
    const Activation activation = makeActivation(kind);
    measure(state, t, 4, [&] { benchmark::DoNotOptimize(kernelsOfThisRun().actCastTranspose(activation, t.args())); });
}

void biasGrad(benchmark::State& state)
{
    Tensors t(state);
    measure(state, t, 2, [&] { kernelsOfThisRun().biasGrad(t.x.data(), t.shape, t.partials.data()); });
}

void biasAdd(benchmark::State& state)
{
    Tensors t(state);
    const std::vector<Bf16> bias(static_cast<std::size_t>(t.shape.cols));
    measure(state, t, 4, [&] { kernelsOfThisRun().biasAdd(bias, t.y); });
}

void activationForward(benchmark::State& state, ActivationKind kind)
{
    Tensors t(state);
    const Activation activation = makeActivation(kind);
    measure(state, t, 4, [&] { kernelsOfThisRun().actForward(activation, t.x, t.y); });
}

void activationBackward(benchmark::State& state, ActivationKind kind)
{
    Tensors t(state);
    const Activation activation = makeActivation(kind);
    std::vector<Bf16> dz(t.n);
    measure(state, t, 6, [&] { kernelsOfThisRun().actBackward(activation, t.y, t.x, dz); });
}

void decodeOperand(benchmark::State& state)
{
    Tensors t(state);
    std::vector<float> values(t.n);
    measure(state, t, 5, [&] { kernelsOfThisRun().decodeFp8(t.q, DType::E4m3, 0.01F, values); });
}

void encodeResult(benchmark::State& state)
{
    Tensors t(state);
    const std::vector<float> values(t.n, 1.25F);
    measure(state, t, 6, [&] { kernelsOfThisRun().encodeBf16(values, t.y); });
}

void adam(benchmark::State& state)
{
    Tensors t(state);
    std::vector<float> master(t.n), mean(t.n), variance(t.n);
    const ParameterSlice slice{.n = t.n,
                               .gradBf16 = t.x.data(),
                               .gradF32 = nullptr,
                               .master = master.data(),
                               .weight = t.y.data(),
                               .momentum = mean.data(),
                               .variance = variance.data()};
    measure(state, t, 2 + 3 * 8 + 2, [&] { kernelsOfThisRun().adam(slice, adamSettings(1e-3, 0.9, 0.999, 1e-8, 10)); });
}

void softmaxCrossEntropy(benchmark::State& state)
{
    Tensors t(state);
    const std::vector<std::int32_t> labels(static_cast<std::size_t>(t.shape.rows));
    std::vector<double> rowLoss(labels.size());
    measure(state, t, 4, [&] { kernelsOfThisRun().softmaxCrossEntropy(t.x, labels, t.shape.cols, 1, t.y, rowLoss); });
}

void shapes(benchmark::internal::Benchmark* b)
{
    b->ArgNames({"rows", "cols"})->Args({256, 256})->Args({1024, 1024})->Args({8192, 4096});
}

BENCHMARK(copyTensor)->Apply(shapes);
BENCHMARK(amaxOnly)->Apply(shapes);
BENCHMARK(castWithAmax)->Apply(shapes);
BENCHMARK(amaxThenCast)->Apply(shapes);
BENCHMARK(eagerChain)->Apply(shapes);
BENCHMARK(transpose)->Apply(shapes);
BENCHMARK(castThenTranspose)->Apply(shapes);
BENCHMARK(castTransposeWithAmax)->Apply(shapes);
BENCHMARK(castTransposeDbias)->Apply(shapes);
BENCHMARK_CAPTURE(actCastTranspose, relu, ActivationKind::Relu)->Apply(shapes);
BENCHMARK_CAPTURE(actCastTranspose, gelu, ActivationKind::Gelu)->Apply(shapes);
BENCHMARK(biasAdd)->Apply(shapes);
BENCHMARK(biasGrad)->Apply(shapes);
BENCHMARK_CAPTURE(activationForward, relu, ActivationKind::Relu)->Apply(shapes);
BENCHMARK_CAPTURE(activationForward, gelu, ActivationKind::Gelu)->Apply(shapes);
BENCHMARK_CAPTURE(activationBackward, relu, ActivationKind::Relu)->Apply(shapes);
BENCHMARK_CAPTURE(activationBackward, gelu, ActivationKind::Gelu)->Apply(shapes);
BENCHMARK(decodeOperand)->Apply(shapes);
BENCHMARK(encodeResult)->Apply(shapes);
BENCHMARK(softmaxCrossEntropy)->Apply(shapes);
BENCHMARK(adam)->Apply(shapes);

}  // namespace
}  // namespace fp8scope::kernels

BENCHMARK_MAIN();

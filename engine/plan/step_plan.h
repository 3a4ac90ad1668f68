// SPDX-License-Identifier: Apache-2.0
// The plan of one training step: plain data that is executed, predicted, recorded and printed.
// Nothing else knows how an fp8 linear layer is made.
#pragma once

#include "collector/trace/ids.h"
#include "collector/trace/words.h"
#include "engine/numerics/scale_layout.h"
#include "engine/plan/config.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fp8scope::plan {

using TensorId = Id<struct TensorTag>;

enum class TensorClass : std::uint8_t {
    Weight,
    Master,
    OptimizerState,
    Input,
    Activation,
    Gradient,
    Fp8Copy,
    Transpose,
    Scale,
    Workspace,
};

/// A row-major, contiguous matrix (vectors are 1 x n, scalars 1 x 1).
struct Tensor {
    std::string name;
    DType type = DType::Bf16;
    std::int64_t rows = 1;
    std::int64_t cols = 1;
    TensorClass cls = TensorClass::Activation;
    int layer = -1;           ///< -1: of no layer
    bool persistent = false;  ///< keeps its contents from step to step (parameters, optimizer state, histories)
    float initialValue =
        0;            ///< of persistent tensors before the first step; parameters are initialised from the seed instead
    TensorId viewOf;  ///< a part of another tensor (one scale of the bulk vector), at viewBytes from its start
    std::size_t viewBytes = 0;

    // Filled in by planMemory:
    int firstUse = -1;  ///< first and last op that touches it; what is read after the step (the loss, amaxes and scales
    int lastUse = -1;   ///< of `quantized`) lives to the last op of the plan
    std::size_t offset = 0;  ///< bytes from the arena's start, 256-byte aligned

    [[nodiscard]] std::int64_t elements() const { return rows * cols; }
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(elements()) * sizeOf(type); }
};

/// As cuBLASLt's: bias, then activation. "Aux" keeps what the activation's backward needs: relu one bit an element
/// (bit i of word w: element 32 w + i is positive, or NaN), gelu its bf16 input.
enum class Epilogue : std::uint8_t {
    None,
    Bias,
    Relu,
    ReluBias,
    ReluAux,
    ReluAuxBias,
    Gelu,
    GeluBias,
    GeluAux,
    GeluAuxBias,
};
[[nodiscard]] Epilogue epilogueOf(bool bias, Activation, bool aux);
[[nodiscard]] bool addsBias(Epilogue);
[[nodiscard]] Activation activationOf(Epilogue);
[[nodiscard]] bool writesAux(Epilogue);
using fp8scope::ScaleMode;

/// A column-major matrix as cuBLASLt sees it: rows x cols, leading dimension in elements.
struct MatrixLayout {
    DType type = DType::Bf16;
    std::int64_t rows = 0, cols = 0, ld = 0;
};

/// Exactly what cuBLASLt is told: D = epilogue(alpha * aScale * bScale * op(A) op(B) + beta * C), column-major, fp32
/// compute. A row-major matrix [r, c] is a column-major one c x r with ld = c. Scale tensors hold dequantization
/// factors (1/scale).
struct GemmCall {
    bool transA = false, transB = false;
    MatrixLayout a, b, d;  ///< C, when beta != 0, is D
    TensorId aTensor, bTensor, dTensor;
    ScaleMode aScaleMode = ScaleMode::None, bScaleMode = ScaleMode::None;
    TensorId aScale, bScale;  ///< as their modes say (numerics/scale_layout.h); none() for 16-bit operands
    Epilogue epilogue = Epilogue::None;
    TensorId bias;  ///< vector over D's rows; none() without
    DType biasType = DType::Bf16;
    TensorId aux;            ///< a row of it for each column of D; none() without
    std::int64_t auxLd = 0;  ///< in elements of D (bits of relu's mask)
    float alpha = 1, beta = 0;
    bool fastAccumulation = false;

    [[nodiscard]] std::int64_t m() const { return d.rows; }
    [[nodiscard]] std::int64_t n() const { return d.cols; }
    [[nodiscard]] std::int64_t k() const { return transA ? a.rows : a.cols; }
};

/// What an op does. "x -> y" lists inputs -> outputs in the order of Op::inputs and Op::outputs; [] marks an optional
/// operand, which is none() when absent. Every kind is one kernel on a GPU.
enum class OpKind : std::uint8_t {
    LoadBatch,           ///< -> x, target: the next batch of the data set, its part Op::microBatch
    Gemm,                ///< Op::gemm; A, B, [A's scale, B's scale], [bias] -> D, [aux] stand in inputs and outputs
    Abs,                 ///< x bf16 -> |x| bf16
    MaxReduce,           ///< |x| bf16 -> amax f32: of the whole tensor, or of each row or column, as its shape says
    ScalarToF64,         ///< f32 -> f64                     (the eager scale arithmetic, one launch each)
    ScalarClampMin,      ///< f64 -> max(v, Op::constant)
    ScalarReciprocal,    ///< v -> 1 / v (f64 or f32)
    ScalarMul,           ///< v -> v * Op::constant
    ScalarToF32,         ///< f64 -> f32
    ScalarLog2,          ///< f32 -> log2(v)                 (rounding a scale down to a power of two)
    ScalarFloor,         ///< f32 -> floor(v)
    ScalarExp2,          ///< f32 -> 2^v
    ToF32,               ///< x bf16 -> f32
    MulScale,            ///< x f32, scale -> x * scale
    Clamp,               ///< x f32 -> clamp(x, +-Op::constant); counts saturated
    ToFp8,               ///< x f32 -> fp8 (round to nearest even); counts underflowed and zeros
    Amax,                ///< x bf16 -> amax f32, [amax f32 of other granularity] (abs and max in one pass)
    ScaleFromAmax,       ///< amax, [amax] -> scale, scaleInv, [scale, scaleInv]: scale = f32(1 / max(f64(amax),
                         ///< Op::constant) * fp8Max), as a power of two if the recipe says so, scaleInv = 1 / scale
    Cast,                ///< x bf16, scale -> q fp8 (saturating)
    Transpose,           ///< q fp8 -> q^T
    CastTranspose,       ///< x bf16, scale, [scale of q^T] -> q, q^T, [amax]
    CastTransposeDbias,  ///< x bf16, scale, [scale of q^T] -> q, q^T, [amax], db f32 (column sums of x)
    BlockCast,  ///< x bf16 -> [q], [its block factors], [q^T], [its block factors], [db f32]; Op::scaleMode says which
    ScaleLayout,               ///< block factors e8m0, row by row -> as cuBLASLt wants them
    RescaleOutput,             ///< product, factors of its rows f32, of its columns f32 -> product * factor * factor
    BiasAdd,                   ///< y bf16, b bf16 -> y (in place: the same tensor)
    BiasGrad,                  ///< dy bf16 -> db f32 (column sums)
    ActForward,                ///< z bf16 -> a bf16
    ActAmax,                   ///< z bf16 -> a bf16, amax f32, [amax f32]
    ActCastTranspose,          ///< z bf16, scale -> q, q^T, amax (a itself is not kept)
    ActBlockCast,              ///< z bf16 -> q, its block factors, q^T, its block factors (a itself is not kept)
    ActBackward,               ///< da bf16, z bf16 (or relu's mask) -> dz bf16
    ActBackwardAmax,           ///< da bf16, z bf16 (or mask) -> dz bf16, amax f32 scalar, [db f32]
    ActBackwardCastTranspose,  ///< da bf16, z bf16 (or mask), scale -> q, q^T, [amax], [db f32] (dz itself is not kept)
    Loss,           ///< y bf16, target -> dy bf16, loss f32 scalar: the mean over the batch, of which y is a part
    OptimizerStep,  ///< dw bf16, [db f32] -> w bf16, master f32, state.. f32, [b bf16, bias master, bias state..], step
                    ///< f32 (a layer's own count of steps done, which the op raises first; db is left out without a
                    ///< bias)
    OptimizerCast,  ///< as OptimizerStep; q, [q^T], amax of the weight follow its outputs, made with the scale of
                    ///< Op::quantized
    DelayedScaleUpdate,  ///< amax staging f32[T], history f32[T, H] -> scales f32[T], scaleInvs f32[T], history,
                         ///< staging zeroed (slot t is StepPlan::quantized[t])
};

struct Op {
    std::string name;  ///< "layer2.fwd.cast_x"
    OpKind kind = OpKind::LoadBatch;
    Role role = Role::Other;
    RoleSet fused;
    Phase phase = Phase::Other;
    int layer = -1;
    std::vector<TensorId> inputs, outputs;
    std::optional<GemmCall> gemm;
    double constant = 0;
    DType fp8Type = DType::E4m3;            ///< of ops that make or scale for an fp8 tensor
    ScaleMode scaleMode = ScaleMode::None;  ///< of block casts: how the factors are laid out
    bool swizzledScales = false;            ///< of block casts: e8m0 factors as cuBLASLt wants them
    int microBatch = 0;
    bool accumulate = false;  ///< a gradient or loss is added to what is there (a GEMM has its beta)
    bool recompute = false;   ///< of a forward pass that is done again in backward
    int quantized = -1;  ///< index into StepPlan::quantized of ops whose counters belong to that tensor's statistics
    std::int64_t m = 0, n = 0, k = 0;  ///< GEMM: as in TraceOp (row-major view); else rows, cols, 0
    double flops = 0;
    std::uint64_t bytes = 0;  ///< least bytes read and written
};

struct LayerPlan {
    std::string name;
    std::int64_t inFeatures = 0, outFeatures = 0;
    bool fp8 = false;
    std::string reason;     ///< why an fp8 mode runs it in bf16; else empty
    TensorId weight, bias;  ///< bias: none() without
};

/// A tensor that is quantized each step, and where its amax and scale stand. Parts of activations and gradients have an
/// entry each, after those of the first micro-batch; delayed scales are one for all parts, their amax the largest so
/// far.
struct QuantizedTensor {
    std::string name;  ///< "layer2.x", "layer2.w", "layer2.dy"
    int layer = -1;
    DType format = DType::E4m3;
    TensorId source;                 ///< the bf16 tensor; none() where act_cast does not keep it
    TensorId amax, scale, scaleInv;  ///< none() where they are found within the cast (scales for blocks)
    std::int64_t elements = 0;
};

struct StepPlan {
    MlpConfig config;
    ModeSettings settings;
    Recipe recipe;  ///< the configuration's, with every default filled in
    std::vector<LayerPlan> layers;
    std::vector<Tensor> tensors;
    std::vector<Op> ops;
    std::vector<QuantizedTensor> quantized;
    TensorId input, target, prediction;  ///< of the first micro-batch
    TensorId loss;
    std::size_t arenaBytes = 0;  ///< all tensors, persistent ones included

    [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors[id.value]; }
};

struct PlanOptions {
    bool keepTensors =
        false;  ///< every tensor gets arena bytes of its own, so that all can be read after a step (tests)
};

/// Builds the plan of a mode: the unfused ops, then the passes of its fusions, then legality and memory.
/// Throws Error for a configuration that cannot be planned.
[[nodiscard]] StepPlan buildPlan(const MlpConfig&, std::string_view mode, const PlanOptions& = {});
[[nodiscard]] StepPlan buildPlan(const MlpConfig&, const ModeSettings&, const PlanOptions& = {});

/// The plan as text: a line an op, with operands, shapes, types, layer, phase, FLOPs and bytes; then tensors and
/// memory.
[[nodiscard]] std::string print(const StepPlan&);

/// Why cuBLASLt would refuse the call on a device of this compute capability (89, 90, 100, ...), or nullopt if it is
/// legal. Rules: NVIDIA cuBLAS documentation, "cublasLtMatmul" and "Narrow Precision Data Types Usage".
[[nodiscard]] std::optional<std::string> refusal(const GemmCall&, int computeCapability);

/// The compute capabilities (of 80, 89, 90, 100, 103, 110, 120) whose cuBLASLt runs every GEMM of the plan.
[[nodiscard]] std::vector<int> computeCapabilities(const StepPlan&);
/// That of the first GPUs on which cuBLASLt has the recipe's scales: what plans are checked against. 90 (Hopper takes
/// TN only, so a plan without scales for rows or blocks that is legal there is legal on every GPU with fp8), or 100.
[[nodiscard]] int targetOf(RecipeKind);

/// Peak arena bytes by class of tensor ("weights", "master weights", ...), in display order. Each class peaks at its
/// own op and tensors share bytes over time, so the rows do not add up to arenaBytes.
struct MemoryUse {
    std::string name;
    std::size_t bytes = 0;
};
[[nodiscard]] std::vector<MemoryUse> memoryByClass(const StepPlan&);
/// What each class has at the op where most bytes are live: these do add up, to the least that any arena must have
/// (but for the rounding of each tensor to 256 bytes).
[[nodiscard]] std::vector<MemoryUse> memoryAtPeak(const StepPlan&);

[[nodiscard]] std::string_view toString(OpKind);
[[nodiscard]] std::string_view toString(TensorClass);
[[nodiscard]] std::string_view toString(Epilogue);
[[nodiscard]] std::string_view toString(ScaleMode);

}  // namespace fp8scope::plan

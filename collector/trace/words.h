// SPDX-License-Identifier: Apache-2.0
// The words of the field, shared by every part: roles, families, phases, precisions, origins.
// This header needs nothing but the standard library, so the injected library may use it too.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fp8scope {

/// What a piece of GPU (or executor) work does. A fused kernel has one primary role and a RoleSet of fused ones.
enum class Role : std::uint8_t {
    Gemm,
    Amax,
    Scale,
    Cast,
    Transpose,
    CastTranspose,
    ScaleLayout,
    Pad,
    Bias,
    BiasGrad,
    Activation,
    ActivationGrad,
    Norm,
    Softmax,
    Attention,
    Rope,
    Loss,
    Optimizer,
    Reduce,
    Elementwise,
    Copy,
    Embedding,
    Index,
    Rng,
    Memcpy,
    Memset,
    Comm,
    Sync,
    Other,
};
inline constexpr int kRoleCount = static_cast<int>(Role::Other) + 1;

/// A set of roles, one bit each.
class RoleSet {
public:
    constexpr RoleSet() = default;
    constexpr explicit RoleSet(std::uint32_t bits) : m_bits(bits) {}
    constexpr void insert(Role role) { m_bits |= bit(role); }
    [[nodiscard]] constexpr bool contains(Role role) const { return (m_bits & bit(role)) != 0; }
    [[nodiscard]] constexpr bool empty() const { return m_bits == 0; }
    [[nodiscard]] constexpr std::uint32_t bits() const { return m_bits; }
    friend constexpr bool operator==(RoleSet, RoleSet) = default;

private:
    static constexpr std::uint32_t bit(Role role) { return 1U << static_cast<unsigned>(role); }
    std::uint32_t m_bits = 0;
};

/// What the first chart shows. The order is the order of bars and legends.
enum class Family : std::uint8_t {
    GemmFp8,
    Gemm16,
    GemmOther,
    Quantization,
    Bias,
    ActivationNorm,
    Attention,
    Optimizer,
    Communication,
    MemoryOps,
    OtherCompute,
    Unknown,
    Idle,
};
inline constexpr int kFamilyCount = static_cast<int>(Family::Idle) + 1;

enum class Phase : std::uint8_t { Forward, Dgrad, Wgrad, Optimizer, Other };
inline constexpr int kPhaseCount = static_cast<int>(Phase::Other) + 1;

/// The arithmetic of a kernel's operands, as far as families care.
enum class Precision : std::uint8_t { Unknown, Fp8, Bf16, Fp16, Fp32, Fp64, Int8, Fp4, Mixed };

/// Where a time comes from. Shown wherever a time is shown.
enum class Origin : std::uint8_t { MeasuredGpu, MeasuredCpu, Predicted, Imported };

/// The kind of thing that a slice's name names.
enum class NameKind : std::uint8_t { Kernel, Memcpy, Memset, Sync, Graph, Api, Op, Range, Step };

enum class TrackKind : std::uint8_t { DeviceQueue, CpuThread, Annotation, Counter };

/// How bad an oddity is: `Info` changes no figure, `DataLoss` means figures miss something, `Error` that some are
/// wrong.
enum class Severity : std::uint8_t { Info, DataLoss, Error };

/// Stable lower-case spellings ("cast_transpose", "GEMM fp8", "measured-cpu", ...), used in files, JSON and tables.
[[nodiscard]] std::string_view toString(Role);
[[nodiscard]] std::string_view toString(Family);
[[nodiscard]] std::string_view toString(Phase);
[[nodiscard]] std::string_view toString(Precision);
[[nodiscard]] std::string_view toString(Origin);
[[nodiscard]] std::string_view toString(NameKind);
[[nodiscard]] std::string_view toString(TrackKind);
[[nodiscard]] std::string_view toString(Severity);

/// The inverse of toString; nullopt for an unknown spelling.
[[nodiscard]] std::optional<Role> roleFromString(std::string_view);
[[nodiscard]] std::optional<Family> familyFromString(std::string_view);
[[nodiscard]] std::optional<Phase> phaseFromString(std::string_view);
[[nodiscard]] std::optional<Precision> precisionFromString(std::string_view);
[[nodiscard]] std::optional<Origin> originFromString(std::string_view);
[[nodiscard]] std::optional<NameKind> nameKindFromString(std::string_view);
[[nodiscard]] std::optional<TrackKind> trackKindFromString(std::string_view);
[[nodiscard]] std::optional<Severity> severityFromString(std::string_view);

/// The words a person reads for an origin: "measured on a CPU", "predicted, not measured", ...
[[nodiscard]] std::string_view describe(Origin);

/// The family of a role; for GEMMs the precision decides (fp8 if either operand is).
[[nodiscard]] Family familyOf(Role role, Precision precision);

}  // namespace fp8scope

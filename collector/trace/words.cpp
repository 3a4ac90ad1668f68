// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/words.h"

#include <array>
#include <cstddef>

namespace fp8scope {
namespace {

constexpr std::array<std::string_view, kRoleCount> kRoles{
    "gemm",         "amax",        "scale",     "cast",      "transpose",  "cast_transpose",
    "scale_layout", "pad",         "bias",      "bias_grad", "activation", "activation_grad",
    "norm",         "softmax",     "attention", "rope",      "loss",       "optimizer",
    "reduce",       "elementwise", "copy",      "embedding", "index",      "rng",
    "memcpy",       "memset",      "comm",      "sync",      "other"};
constexpr std::array<std::string_view, kFamilyCount> kFamilies{
    "GEMM fp8",          "GEMM 16-bit", "GEMM other", "Quantization",  "Bias",
    "Activation & norm", "Attention",   "Optimizer",  "Communication", "Memory ops",
    "Other compute",     "Unknown",     "Idle"};
constexpr std::array<std::string_view, kPhaseCount> kPhases{"forward", "dgrad", "wgrad", "optimizer", "other"};
constexpr std::array<std::string_view, 9> kPrecisions{"unknown", "fp8",  "bf16", "fp16", "fp32",
                                                      "fp64",    "int8", "fp4",  "mixed"};
constexpr std::array<std::string_view, 4> kOrigins{"measured-gpu", "measured-cpu", "predicted", "imported"};
constexpr std::array<std::string_view, 9> kNameKinds{"kernel", "memcpy", "memset", "sync", "graph",
                                                     "api",    "op",     "range",  "step"};
constexpr std::array<std::string_view, 4> kTrackKinds{"device_queue", "cpu_thread", "annotation", "counter"};
constexpr std::array<std::string_view, 3> kSeverities{"info", "data-loss", "error"};

template <typename Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& spellings, std::string_view text)
{
    for (std::size_t i = 0; i < N; ++i) {
        if (spellings[i] == text)
            return static_cast<Enum>(i);
    }
    return std::nullopt;
}

template <typename Enum, std::size_t N>
std::string_view spelling(const std::array<std::string_view, N>& spellings, Enum value)
{
    const auto index = static_cast<std::size_t>(value);
    return index < N ? spellings[index] : std::string_view("?");
}

}  // namespace

std::string_view toString(Role v) { return spelling(kRoles, v); }
std::string_view toString(Family v) { return spelling(kFamilies, v); }
std::string_view toString(Phase v) { return spelling(kPhases, v); }
std::string_view toString(Precision v) { return spelling(kPrecisions, v); }
std::string_view toString(Origin v) { return spelling(kOrigins, v); }
std::string_view toString(NameKind v) { return spelling(kNameKinds, v); }
std::string_view toString(TrackKind v) { return spelling(kTrackKinds, v); }
std::string_view toString(Severity v) { return spelling(kSeverities, v); }

std::optional<Role> roleFromString(std::string_view t) { return find<Role>(kRoles, t); }
std::optional<Family> familyFromString(std::string_view t) { return find<Family>(kFamilies, t); }
std::optional<Phase> phaseFromString(std::string_view t) { return find<Phase>(kPhases, t); }
std::optional<Precision> precisionFromString(std::string_view t) { return find<Precision>(kPrecisions, t); }
std::optional<Origin> originFromString(std::string_view t) { return find<Origin>(kOrigins, t); }
std::optional<NameKind> nameKindFromString(std::string_view t) { return find<NameKind>(kNameKinds, t); }
std::optional<TrackKind> trackKindFromString(std::string_view t) { return find<TrackKind>(kTrackKinds, t); }
std::optional<Severity> severityFromString(std::string_view t) { return find<Severity>(kSeverities, t); }

std::string_view describe(Origin origin)
{
    switch (origin) {
    case Origin::MeasuredGpu: return "measured on a GPU";
    case Origin::MeasuredCpu: return "measured on a CPU";
    case Origin::Predicted: return "predicted, not measured";
    case Origin::Imported: return "imported from another profiler";
    }
    return "of unknown origin";
}

Family familyOf(Role role, Precision precision)
{
    switch (role) {
    case Role::Gemm:
        switch (precision) {
        case Precision::Fp8: return Family::GemmFp8;
        case Precision::Bf16:
        case Precision::Fp16: return Family::Gemm16;
        default: return Family::GemmOther;
        }
    case Role::Amax:
    case Role::Scale:
    case Role::Cast:
    case Role::Transpose:
    case Role::CastTranspose:
    case Role::ScaleLayout:
    case Role::Pad: return Family::Quantization;
    case Role::Bias:
    case Role::BiasGrad: return Family::Bias;
    case Role::Activation:
    case Role::ActivationGrad:
    case Role::Norm:
    case Role::Softmax: return Family::ActivationNorm;
    case Role::Attention:
    case Role::Rope: return Family::Attention;
    case Role::Optimizer: return Family::Optimizer;
    case Role::Comm: return Family::Communication;
    case Role::Copy:
    case Role::Memcpy:
    case Role::Memset: return Family::MemoryOps;
    case Role::Sync: return Family::Idle;  // waiting is not work
    case Role::Loss:
    case Role::Reduce:
    case Role::Elementwise:
    case Role::Embedding:
    case Role::Index:
    case Role::Rng: return Family::OtherCompute;
    case Role::Other: return Family::Unknown;
    }
    return Family::Unknown;
}

}  // namespace fp8scope

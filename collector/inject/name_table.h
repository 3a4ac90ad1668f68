// SPDX-License-Identifier: Apache-2.0
// Names on the wire: each is demangled, declared and numbered once.
#pragma once

#include "collector/inject/cupti_table.h"
#include "collector/wire/encoder.h"

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fp8scope::inject {

/// Of one connection and one thread.
class NameTable {
public:
    NameTable(const CuptiTable& cupti, wire::Encoder& encoder) : m_cupti(cupti), m_encoder(encoder) {}

    /// By a kernel's mangled name, which CUPTI owns. The same pointer mostly means the same name, and that is checked.
    [[nodiscard]] wire::LocalName kernel(const char* mangled);
    /// "cudaLaunchKernel": without the version that CUPTI appends.
    [[nodiscard]] wire::LocalName api(CUpti_CallbackDomain, CUpti_CallbackId);
    [[nodiscard]] wire::LocalName plain(std::string_view text, NameKind, Role = Role::Other);

private:
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    using ByText = std::unordered_map<std::string, wire::LocalName, TextHash, std::equal_to<>>;
    struct KnownPointer {
        const std::string* mangled = nullptr;  ///< key of m_kernels, whose addresses stay
        wire::LocalName name;
    };

    const CuptiTable& m_cupti;
    wire::Encoder& m_encoder;
    ByText m_kernels;
    std::unordered_map<const char*, KnownPointer> m_byPointer;
    std::unordered_map<std::uint64_t, wire::LocalName> m_apis;
    ByText m_plain[static_cast<std::size_t>(NameKind::Step) + 1];
};

/// The readable form of an Itanium-mangled name; the text itself if it is none.
[[nodiscard]] std::string demangled(const char* name);

}  // namespace fp8scope::inject

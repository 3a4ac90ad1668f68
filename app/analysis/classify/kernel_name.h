// SPDX-License-Identifier: Apache-2.0
// A kernel's name in one spelling, taken apart. Tools spell the same kernel differently; rules are written once.
#pragma once

#include <string>
#include <string_view>

namespace fp8scope::analysis {

/// A kernel's name, demangled and in the PyTorch profiler's spelling: `4` for Nsight's `(int)4`, `(anonymous
/// namespace)` for `<unnamed>`, `{lambda(float)#2}` for `[lambda(float) (instance 2)]`. A mangled name that cannot be
/// demangled (cut short by a tool) becomes its identifiers, joined as a path.
class KernelName {
public:
    explicit KernelName(std::string_view raw);

    [[nodiscard]] std::string_view text() const { return m_text; }
    /// "at::native::reduce_kernel": the function's path without return type, template arguments and parameters.
    [[nodiscard]] std::string_view function() const { return part(m_functionBegin, m_functionEnd); }
    /// The words of the function's path in lower case: "at native reduce kernel", "fmha sm100a kernel". Of a kernel
    /// that only wraps another (cutlass::device_kernel<...>, ck_tile::kentry<...>) also those of what it wraps.
    [[nodiscard]] std::string_view words() const { return m_words; }
    /// What stands between the function's own < and >; empty for one that is no template.
    [[nodiscard]] std::string_view templateArguments() const { return part(m_argumentsBegin, m_argumentsEnd); }

private:
    [[nodiscard]] std::string_view part(std::size_t begin, std::size_t end) const
    {
        return std::string_view(m_text).substr(begin, end - begin);
    }
    void takeApart();
    void listWords();

    std::string m_text, m_words;
    std::size_t m_functionBegin = 0, m_functionEnd = 0;
    std::size_t m_argumentsBegin = 0, m_argumentsEnd = 0;
};

}  // namespace fp8scope::analysis

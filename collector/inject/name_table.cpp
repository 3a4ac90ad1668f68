// SPDX-License-Identifier: Apache-2.0
#include "collector/inject/name_table.h"

#include <cstdlib>
#include <libiberty/demangle.h>
#include <memory>

namespace fp8scope::inject {

namespace {

/// "cudaLaunchKernel_v7000" and "cuLaunchKernel_ptsz" are how CUPTI spells versions of one function.
std::string withoutVersion(std::string name)
{
    const std::size_t version = name.rfind("_v");
    if (version != std::string::npos && version + 2 < name.size() &&
        name.find_first_not_of("0123456789", version + 2) == std::string::npos)
        name.resize(version);
    for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
        if (name.ends_with(suffix))
            name.resize(name.size() - suffix.size());
    }
    return name;
}

}  // namespace

// libiberty's and not the C++ runtime's, which gives up on names over 1,024 characters: CUTLASS's are longer.
std::string demangled(const char* name)
{
    constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT;
    const std::unique_ptr<char, void (*)(void*)> text(::cplus_demangle_v3(name, kOptions), std::free);
    return text != nullptr ? std::string(text.get()) : std::string(name);
}

wire::LocalName NameTable::kernel(const char* mangled)
{
    if (mangled == nullptr)
        return plain("(kernel without a name)", NameKind::Kernel);
    KnownPointer& known = m_byPointer[mangled];
    if (known.mangled != nullptr && *known.mangled == mangled)
        return known.name;
    auto found = m_kernels.find(std::string_view(mangled));
    if (found == m_kernels.end()) {
        const wire::LocalName name =
            m_encoder.append(wire::Name{.text = demangled(mangled), .kind = NameKind::Kernel, .library = {}});
        found = m_kernels.emplace(mangled, name).first;
    }
    known = {&found->first, found->second};
    return known.name;
}

wire::LocalName NameTable::api(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    const std::uint64_t key = (static_cast<std::uint64_t>(domain) << 32) | id;
    const auto found = m_apis.find(key);
    if (found != m_apis.end())
        return found->second;
    const char* text = nullptr;
    const bool known = m_cupti.getCallbackName(domain, id, &text) == CUPTI_SUCCESS && text != nullptr;
    const char* family = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "runtime" : "driver";
    const std::string name =
        known ? withoutVersion(text) : std::string(family) + " call " + std::to_string(id) + " (newer than this CUPTI)";
    return m_apis[key] = plain(name, NameKind::Api);
}

wire::LocalName NameTable::plain(std::string_view text, NameKind kind, Role role)
{
    ByText& names = m_plain[static_cast<std::size_t>(kind)];
    const auto found = names.find(text);
    if (found != names.end())
        return found->second;
    const wire::LocalName name =
        m_encoder.append(wire::Name{.text = std::string(text), .kind = kind, .role = role, .library = {}});
    names.emplace(text, name);
    return name;
}

}  // namespace fp8scope::inject

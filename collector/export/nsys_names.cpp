// SPDX-License-Identifier: Apache-2.0
#include "collector/export/nsys_names.h"

#include "collector/trace/cuda_kinds.h"

namespace fp8scope::exporter {
namespace {

/// "Pinned -> Device" of "Memcpy HtoD (Pinned -> Device)".
std::string_view inParentheses(std::string_view name)
{
    const std::size_t open = name.find('(');
    const std::size_t close = name.rfind(')');
    return open == std::string_view::npos || close == std::string_view::npos || close < open
               ? std::string_view()
               : name.substr(open + 1, close - open - 1);
}

}  // namespace

std::string_view shortKernelName(std::string_view name)
{
    // The function's own name ends before its template arguments or parameters; what is in "(anonymous namespace)" is
    // a scope.
    std::size_t end = 0;
    while (end < name.size() && name[end] != '<' && name[end] != '(') {
        ++end;
        if (name.substr(end).starts_with("(anonymous namespace)"))
            end += std::string_view("(anonymous namespace)").size();
    }
    std::string_view head = name.substr(0, end);
    if (const std::size_t scope = head.rfind("::"); scope != std::string_view::npos)
        head.remove_prefix(scope + 2);
    if (const std::size_t space = head.rfind(' '); space != std::string_view::npos)
        head.remove_prefix(space + 1);
    return head.empty() ? name : head;
}

CopyKind copyKindOf(std::string_view name)
{
    CopyKind kind;
    if (!name.starts_with("Memcpy "))
        return kind;
    std::string_view way = name.substr(std::string_view("Memcpy ").size());
    way = way.substr(0, way.find(" ("));
    kind.way = kindNumber(kCopyWays, way).value_or(0);
    const std::string_view ends = inParentheses(name);
    if (const std::size_t arrow = ends.find(" -> "); arrow != std::string_view::npos) {
        kind.from = kindNumber(kMemoryKinds, ends.substr(0, arrow));
        kind.to = kindNumber(kMemoryKinds, ends.substr(arrow + 4));
    }
    return kind;
}

std::optional<std::int64_t> memoryKindOf(std::string_view name)
{
    return kindNumber(kMemoryKinds, inParentheses(name));
}

std::int64_t waitKindOf(std::string_view name) { return kindNumber(kWaitKinds, name).value_or(0); }

}  // namespace fp8scope::exporter

// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/classify/classify.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace fp8scope::analysis {
namespace {

bool isDeviceWork(NameKind kind)
{
    return kind == NameKind::Kernel || kind == NameKind::Memcpy || kind == NameKind::Memset || kind == NameKind::Sync;
}

/// What the kind alone tells, for the words that no rule knows.
Role roleOfKind(NameKind kind)
{
    switch (kind) {
    case NameKind::Memcpy: return Role::Memcpy;
    case NameKind::Memset: return Role::Memset;
    case NameKind::Sync: return Role::Sync;
    default: return Role::Other;
    }
}

void classifyNames(Trace& trace, const KernelClassifier& classifier)
{
    std::vector<Name*> unnamed;
    std::vector<std::string_view> texts;
    for (Name& name : trace.names) {
        if (!isDeviceWork(name.kind) || name.role != Role::Other)
            continue;
        if (name.kind != NameKind::Kernel) {
            name.role = roleOfKind(name.kind);
            continue;
        }
        unnamed.push_back(&name);
        texts.push_back(name.text);
    }
    const std::vector<KernelClass> classes = classifier.classify(texts);
    for (std::size_t i = 0; i < classes.size(); ++i) {
        Name& name = *unnamed[i];
        name.role = classes[i].role;
        name.fused = classes[i].fused;
        name.precision = classes[i].precision;
        name.library = classes[i].library;
    }
}

void classifyOps(Trace& trace, const KernelClassifier& classifier)
{
    for (TraceOp& op : trace.ops) {
        if (op.role != Role::Other)
            continue;
        const OpClass found = classifier.classifyOp(op.name, fmt::format("{}, {}, {}", op.aType, op.bType, op.dType));
        op.role = found.role;
        op.fused = found.fused;
    }
}

}  // namespace

void classify(Trace& trace, const KernelClassifier& classifier)
{
    classifyNames(trace, classifier);
    classifyOps(trace, classifier);
}

KernelClassifier classifierWith(std::span<const std::pair<std::string, std::string>> own)
{
    std::vector<RuleFile> files;
    for (const auto& [name, text] : own)
        files.push_back(parseRules(text, name));
    files.push_back(parseRules(builtInRules(), "kernel_rules.toml"));
    return KernelClassifier(files);
}

}  // namespace fp8scope::analysis

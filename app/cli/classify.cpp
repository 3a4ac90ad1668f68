// SPDX-License-Identifier: Apache-2.0
// `fp8scope classify`: what kernels do, by names on standard input.
#include "app/cli/command.h"

#include "app/analysis/classify/kernel_classifier.h"
#include "app/open/rule_files.h"

#include <fmt/format.h>

#include <iostream>
#include <string_view>
#include <unordered_map>

namespace fp8scope::cli {
namespace {

struct ClassifyOptions {
    Format format = Format::Json;
    std::vector<std::filesystem::path> rules;
};

std::vector<std::string> namesOf(std::istream& in)
{
    std::vector<std::string> names;
    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line.back() == '\r')
            line.pop_back();
        if (!line.empty())
            names.push_back(line);
    }
    return names;
}

/// One class a name, each distinct name classified once.
std::vector<analysis::KernelClass> classesOf(const std::vector<std::string>& names,
                                             const analysis::KernelClassifier& classifier)
{
    std::unordered_map<std::string_view, std::size_t> position;
    std::vector<std::string_view> distinct;
    for (const std::string& name : names) {
        if (position.try_emplace(name, distinct.size()).second)
            distinct.push_back(name);
    }
    const std::vector<analysis::KernelClass> classes = classifier.classify(distinct);
    std::vector<analysis::KernelClass> all;
    all.reserve(names.size());
    for (const std::string& name : names)
        all.push_back(classes[position.at(name)]);
    return all;
}

std::vector<std::string_view> wordsOf(RoleSet roles)
{
    std::vector<std::string_view> words;
    for (int r = 0; r < kRoleCount; ++r) {
        if (roles.contains(static_cast<Role>(r)))
            words.push_back(toString(static_cast<Role>(r)));
    }
    return words;
}

Json toJson(const std::vector<std::string>& names, const std::vector<analysis::KernelClass>& classes)
{
    Json kernels = Json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
        const analysis::KernelClass& c = classes[i];
        Json kernel{{"name", names[i]},          {"role", toString(c.role)},
                    {"fused", wordsOf(c.fused)}, {"precision", toString(c.precision)},
                    {"library", c.library},      {"rule", c.known() ? Json(c.rule) : Json()}};
        if (!c.types.a.empty())
            kernel["types"] = {{"a", c.types.a}, {"b", c.types.b}, {"d", c.types.d}};
        kernels.push_back(std::move(kernel));
    }
    return {{"schema_version", kJsonSchema}, {"kernels", std::move(kernels)}};
}

Table tableOf(const std::vector<std::string>& names, const std::vector<analysis::KernelClass>& classes)
{
    Table table;
    table.columns = {{"kernel", "name", false, true},   {"role", "role", false},       {"fused", "fused", false},
                     {"precision", "precision", false}, {"library", "library", false}, {"rule", "rule", false}};
    std::size_t unknown = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const analysis::KernelClass& c = classes[i];
        unknown += c.known() ? 0 : 1;
        table.rows.push_back({textCell(names[i]), textCell(toString(c.role)),
                              textCell(fmt::format("{}", fmt::join(wordsOf(c.fused), " "))),
                              textCell(toString(c.precision)), textCell(c.library),
                              textCell(c.known() ? c.rule : "-")});
    }
    if (unknown > 0)
        table.notes.push_back(fmt::format("No rule knows {} of {} names; they are 'other'.", unknown, names.size()));
    return table;
}

}  // namespace

void addClassifyCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<ClassifyOptions>();
    CLI::App* command = app.add_subcommand("classify", "What kernels do: names on standard input, one a line");
    addFormatOption(*command, options->format);
    addRulesOption(*command, options->rules);
    command->footer(
        "Prints JSON unless --format says otherwise. Names are taken as any tool writes them, mangled or not.");
    command->callback([options] {
        const analysis::KernelClassifier classifier = open::classifierOf(options->rules);
        const std::vector<std::string> names = namesOf(std::cin);
        const std::vector<analysis::KernelClass> classes = classesOf(names, classifier);
        emitResult(options->format, tableOf(names, classes), [&] { return toJson(names, classes); });
    });
}

}  // namespace fp8scope::cli

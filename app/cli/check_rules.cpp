// SPDX-License-Identifier: Apache-2.0
// `fp8scope check-rules`: errors of a rule file, rules that others shadow, rules that match nothing known.
#include "app/cli/command.h"

#include "app/analysis/classify/check_rules.h"
#include "app/open/rule_files.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace fp8scope::cli {
namespace {

struct CheckOptions {
    std::filesystem::path file;
    std::filesystem::path names;
    Format format = Format::Table;
};

std::vector<std::string> linesOf(const std::filesystem::path& path)
{
    std::vector<std::string> lines;
    const std::string text = open::readText(path);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (end > begin)
            lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

struct Checked {
    std::string id, state, detail;
    std::uint32_t line = 0;
    std::size_t decides = 0;
};

Checked judge(const analysis::RuleUse& use)
{
    Checked result{.id = use.rule->id, .state = "ok", .detail = {}, .line = use.rule->line, .decides = use.decides};
    if (use.shadow != nullptr) {
        result.state = "shadowed";
        result.detail = fmt::format("line {}, '{}', decides first", use.shadow->line, use.shadow->id);
    } else if (use.takes == 0) {
        result.state = "unmatched";
        result.detail = "matches no known name";
    }
    return result;
}

/// The file's own rules, judged on the known names and on the user's.
std::vector<Checked> check(const CheckOptions& options)
{
    const analysis::RuleFile file = analysis::parseRules(open::readText(options.file), options.file.string());
    const analysis::KernelClassifier classifier(std::span(&file, 1));
    const std::vector<std::string> own = options.names.empty() ? std::vector<std::string>{} : linesOf(options.names);
    std::vector<std::string_view> names(own.begin(), own.end());
    for (const analysis::KnownKernel& known : analysis::knownKernels())
        names.push_back(known.name);
    std::vector<Checked> results;
    for (const analysis::RuleUse& use : analysis::ruleUses(classifier, names))
        results.push_back(judge(use));
    return results;
}

Table tableOf(const std::vector<Checked>& results, const CheckOptions& options)
{
    Table table;
    table.headline = fmt::format("{}: {} rules", options.file.filename().string(), results.size());
    table.columns = {{"line", "line"},
                     {"rule", "rule", false},
                     {"state", "state", false},
                     {"names", "decides"},
                     {"", "detail", false, false, true}};
    for (const Checked& r : results)
        table.rows.push_back(
            {countCell(r.line), textCell(r.id), textCell(r.state), countCell(r.decides), textCell(r.detail)});
    return table;
}

Json toJson(const std::vector<Checked>& results)
{
    Json rules = Json::array();
    for (const Checked& r : results)
        rules.push_back(
            {{"rule", r.id}, {"line", r.line}, {"state", r.state}, {"decides", r.decides}, {"detail", r.detail}});
    return {{"schema_version", kJsonSchema}, {"rules", std::move(rules)}};
}

}  // namespace

void addCheckRulesCommand(CLI::App& app, Program& program)
{
    auto options = std::make_shared<CheckOptions>();
    CLI::App* command =
        app.add_subcommand("check-rules", "Errors, shadowed and unmatched rules of a classification file");
    command->add_option("FILE", options->file, "The rules (TOML)")->required()->option_text(" ");
    command->add_option("--names", options->names, "Kernel names to try as well, one a line")->option_text("FILE");
    addFormatOption(*command, options->format);
    command->footer("Exit code 1: the file has an error, or a rule that another one shadows.");
    command->callback([options, &program] {
        const std::vector<Checked> results = check(*options);
        emitResult(options->format, tableOf(results, *options), [&] { return toJson(results); });
        if (std::any_of(results.begin(), results.end(), [](const Checked& r) { return r.state == "shadowed"; }))
            program.exitCode = kFailure;
    });
}

}  // namespace fp8scope::cli

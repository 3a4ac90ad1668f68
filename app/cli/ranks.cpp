// SPDX-License-Identifier: Apache-2.0
// `fp8scope ranks`: the ranks of a job beside each other, and what its collectives wait for.
#include "app/cli/command.h"
#include "app/cli/open_progress.h"

#include "app/analysis/overview.h"
#include "app/analysis/ranks.h"
#include "collector/trace/error.h"

#include <fmt/format.h>

namespace fp8scope::cli {
namespace {

struct RankOptions {
    std::vector<std::filesystem::path> files;
    Format format = Format::Table;
    std::string timeUnit = "auto";
};

Table rankTable(const analysis::RankComparison& comparison, const RankOptions& options)
{
    Table table;
    table.headline = options.files.front().filename().string() + ": exposed time of each rank's step";
    table.columns = {{"", "name", false},
                     {"step", "step_ns"},
                     {"compute", "compute_ns"},
                     {"communication", "communication_ns"},
                     {"memory", "memory_ns"},
                     {"idle", "idle_ns"},
                     {"in collectives", "collectives_ns"},
                     {"waiting", "waiting_ns"},
                     {"", "straggler", false}};
    for (const analysis::RankRow& row : comparison.ranks) {
        std::vector<Cell> cells{textCell(row.name)};
        for (const std::int64_t ns : {row.stepNs, row.computeNs, row.communicationNs, row.memoryNs, row.idleNs,
                                      row.collectivesNs, row.waitingNs})
            cells.push_back(timeCell(ns, options.timeUnit));
        cells.push_back({row.straggler ? "comes last" : "", row.straggler});
        table.rows.push_back(std::move(cells));
    }
    table.notes.push_back(comparison.verdict);
    return table;
}

Table collectiveTable(const analysis::RankComparison& comparison, const std::string& unit)
{
    Table table;
    table.headline = "Collectives of all ranks: work, and waiting for the rank that comes last";
    table.columns = {{"collective", "name", false, true}, {"calls", "matched"},  {"work", "working_ns"},
                     {"waiting", "waiting_ns"},           {"last", "last_rank"}, {"in", "last_share"}};
    for (const analysis::CollectiveRow& row : comparison.collectives)
        table.rows.push_back({textCell(row.name),
                              countCell(row.matched),
                              timeCell(row.workingNs, unit),
                              timeCell(row.waitingNs, unit),
                              {fmt::format("rank {}", row.lastRank), row.lastRank},
                              shareCell(row.lastShare)});
    table.notes.emplace_back("Work is one rank's, waiting that of all ranks together.");
    if (comparison.unmatched > 0)
        table.notes.push_back(fmt::format("{} collectives have no counterpart on another rank", comparison.unmatched));
    return table;
}

Json toJson(const analysis::RankComparison& comparison)
{
    Json document{{"schema_version", kJsonSchema}, {"verdict", comparison.verdict}, {"ranks", Json::array()}};
    for (const analysis::RankRow& row : comparison.ranks)
        document["ranks"].push_back({{"name", row.name},
                                     {"rank", row.rank},
                                     {"step_ns", row.stepNs},
                                     {"compute_ns", row.computeNs},
                                     {"communication_ns", row.communicationNs},
                                     {"memory_ns", row.memoryNs},
                                     {"idle_ns", row.idleNs},
                                     {"collectives_ns", row.collectivesNs},
                                     {"waiting_ns", row.waitingNs},
                                     {"straggler", row.straggler}});
    document["collectives"] = Json::array();
    for (const analysis::CollectiveRow& row : comparison.collectives)
        document["collectives"].push_back({{"name", row.name},
                                           {"matched", row.matched},
                                           {"working_ns", row.workingNs},
                                           {"waiting_ns", row.waitingNs},
                                           {"last_rank", row.lastRank},
                                           {"last_share", row.lastShare}});
    document["unmatched"] = comparison.unmatched;
    return document;
}

void printRanks(const RankOptions& options)
{
    const Trace trace = openWithProgress(options.files);
    const analysis::RankComparison comparison = analysis::compareRanks(trace, analysis::breakdowns(trace));
    if (comparison.ranks.empty())
        throw Error("it holds fewer than two ranks with steps", options.files.front().string(),
                    "name the files of all ranks, their folder or their archive");
    if (options.format == Format::Json) {
        printJson(toJson(comparison));
        return;
    }
    const Table ranks = rankTable(comparison, options);
    if (options.format == Format::Csv)
        print(renderCsv(ranks));
    else
        print(renderTable(ranks) + "\n" + renderTable(collectiveTable(comparison, options.timeUnit)));
}

}  // namespace

void addRanksCommand(CLI::App& app, Program&)
{
    auto options = std::make_shared<RankOptions>();
    CLI::App* command = app.add_subcommand("ranks", "The ranks of a job: who comes late, and what the others wait for");
    command->add_option("FILE", options->files, "An imported trace, a folder or archive of ranks, or a file each")
        ->required()
        ->option_text(" ");
    addFormatOption(*command, options->format);
    command->add_option("--time-unit", options->timeUnit, "Unit of times in tables: auto, ns, us, ms or s")
        ->check(CLI::IsMember({"auto", "ns", "us", "ms", "s"}).description(""))
        ->option_text("UNIT");
    command->callback([options] { printRanks(*options); });
}

}  // namespace fp8scope::cli

// SPDX-License-Identifier: Apache-2.0
#include "app/cli/memory_table.h"

#include "app/analysis/overview.h"

#include <algorithm>

namespace fp8scope::cli {
namespace {

const MemoryClass* find(const Trace& trace, RunId run, std::string_view name)
{
    const auto found = std::find_if(trace.memory.begin(), trace.memory.end(), [&](const MemoryClass& memory) {
        return memory.run == run && memory.name == name;
    });
    return found == trace.memory.end() ? nullptr : &*found;
}

/// The first run of each mode that has memory figures.
std::vector<RunId> runsWithMemory(const Trace& trace)
{
    std::vector<RunId> runs;
    for (const MemoryClass& memory : trace.memory) {
        const bool known = std::any_of(runs.begin(), runs.end(),
                                       [&](RunId run) { return trace.run(run).mode == trace.run(memory.run).mode; });
        if (!known)
            runs.push_back(memory.run);
    }
    return runs;
}

std::vector<std::string> classNames(const Trace& trace)
{
    std::vector<std::string> names;
    for (const MemoryClass& memory : trace.memory) {
        if (std::find(names.begin(), names.end(), memory.name) == names.end())
            names.push_back(memory.name);
    }
    return names;
}

}  // namespace

Table memoryTable(const Trace& trace)
{
    Table table;
    table.headline = "Memory, each class at its own peak (they peak at different times and share bytes):";
    table.columns = {{"class", "class", false}};
    const std::vector<RunId> runs = runsWithMemory(trace);
    for (const RunId run : runs)
        table.columns.push_back({trace.run(run).mode, trace.run(run).mode + "_bytes"});
    for (const std::string& name : classNames(trace)) {
        std::vector<Cell> row{textCell(name)};
        std::uint64_t most = 0;
        for (const RunId run : runs) {
            const MemoryClass* memory = find(trace, run, name);
            row.push_back(memory == nullptr ? Cell{"-", Json()}
                                            : Cell{analysis::formatBytes(memory->bytes), Json(memory->bytes)});
            most = std::max(most, memory == nullptr ? 0 : memory->bytes);
        }
        if (most > 0)
            table.rows.push_back(std::move(row));
    }
    return table;
}

Json memoryJson(const Trace& trace, RunId run)
{
    Json classes = Json::array();
    for (const MemoryClass& memory : trace.memory) {
        if (memory.run == run)
            classes.push_back({{"class", memory.name}, {"bytes", memory.bytes}});
    }
    return classes;
}

void printMemory(const Trace& trace)
{
    const Table table = memoryTable(trace);
    if (!table.rows.empty())
        print("\n" + renderTable(table));
}

}  // namespace fp8scope::cli

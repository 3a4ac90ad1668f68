// SPDX-License-Identifier: Apache-2.0
#include "tests/support/trace_text.h"

#include "collector/trace/table_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fp8scope::test {
namespace {

/// The third Io of table_rows.h.
class RowPrinter {
public:
    explicit RowPrinter(std::string& text) : m_text(text) {}

    void field(const std::string& value) { m_text += " '" + value + "'"; }
    void field(const std::vector<std::uint64_t>& counts) { m_text += fmt::format(" [{}]", fmt::join(counts, ",")); }
    void field(RoleSet value) { m_text += fmt::format(" {:#x}", value.bits()); }
    template <typename T>
    void field(T value)
    {
        if constexpr (std::is_enum_v<T>)
            m_text += fmt::format(" {}", toString(value));
        else
            m_text += fmt::format(" {}", value);
    }
    void real(double value) { field(value); }
    void time(std::int64_t value) { field(value); }
    void duration(std::int64_t value) { field(value); }
    template <typename Tag>
    void reference(Id<Tag> id, std::uint32_t)
    {
        m_text += id.valid() ? fmt::format(" #{}", id.value) : " -";
    }
    template <typename Tag>
    void optionalReference(Id<Tag> id, std::uint32_t count)
    {
        reference(id, count);
    }

private:
    std::string& m_text;
};

template <typename Row>
void print(std::string& text, const std::vector<Row>& table)
{
    for (const Row& row : table) {
        text += rows::kTable<Row>;
        RowPrinter printer(text);
        rows::visit(printer, rows::Counts{}, row);
        text += '\n';
    }
}

void printSlices(std::string& text, const Track& track)
{
    const SliceColumns& s = track.slices;
    text += fmt::format("slices of '{}', {} lanes\n", track.name, track.laneCount);
    for (std::size_t i = 0; i < s.size(); ++i) {
        text += fmt::format("  {} +{} name {} op {}", s.startNs[i], s.durNs[i], s.name[i].value,
                            s.op[i].valid() ? fmt::format("{}", s.op[i].value) : "-");
        if (!s.correlation.empty())
            text += fmt::format(" correlation {}", s.correlation[i]);
        if (!s.launchShape.empty())
            text += fmt::format(" shape {}", static_cast<std::int32_t>(s.launchShape[i].value));
        if (!s.bytes.empty())
            text += fmt::format(" bytes {}", s.bytes[i]);
        if (!s.lane.empty())
            text += fmt::format(" lane {}", s.lane[i]);
        text += '\n';
    }
}

}  // namespace

std::string toText(const Trace& trace)
{
    std::string text = trace.complete ? "complete\n" : "incomplete\n";
    for (const auto& [key, value] : trace.meta)
        text += fmt::format("meta {} '{}'\n", key, value);
    print(text, trace.runs);
    print(text, trace.processes);
    print(text, trace.devices);
    print(text, trace.tracks);
    print(text, trace.names);
    print(text, trace.launchShapes);
    print(text, trace.layers);
    print(text, trace.ops);
    print(text, trace.steps);
    print(text, trace.tensorStats);
    print(text, trace.histograms);
    print(text, trace.stepValues);
    print(text, trace.tensorErrors);
    print(text, trace.memory);
    print(text, trace.samples);
    print(text, trace.diagnostics);
    for (const Track& track : trace.tracks)
        printSlices(text, track);
    return text;
}

}  // namespace fp8scope::test

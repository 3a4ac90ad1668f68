// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/row_io.h"

#include "collector/trace/slice_record.h"
#include "collector/trace/utf8.h"

#include <SQLiteCpp/Column.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace fp8scope::rows {
namespace {

void checkTime(std::int64_t ns)
{
    if (ns < -kMaxTimeNs || ns >= kMaxTimeNs)
        throw BadField(fmt::format("has a time out of range ({} ns)", ns));
}

void checkDuration(std::int64_t ns)
{
    if (ns < 0 || ns >= kMaxTimeNs)
        throw BadField(fmt::format("has a duration out of range ({} ns)", ns));
}

void checkReference(std::int64_t id, std::uint32_t count)
{
    if (id < 0 || id >= static_cast<std::int64_t>(count))
        throw BadField(fmt::format("refers to row {} of a table of {}", id, count));
}

}  // namespace

void RowBinder::integer(std::int64_t value) { m_statement.bind(m_parameter++, value); }
void RowBinder::null() { m_statement.bind(m_parameter++); }
void RowBinder::field(double value) { m_statement.bind(m_parameter++, std::isnan(value) ? 0.0 : value); }
void RowBinder::field(const std::string& value) { text(value); }
void RowBinder::text(std::string_view value) { m_statement.bind(m_parameter++, std::string(value)); }

/// "bias,activation": readable in the shell, and found by `LIKE`.
void RowBinder::field(RoleSet value)
{
    std::string spelled;
    for (int r = 0; r < kRoleCount; ++r) {
        if (!value.contains(static_cast<Role>(r)))
            continue;
        if (!spelled.empty())
            spelled += ',';
        spelled += toString(static_cast<Role>(r));
    }
    text(spelled);
}

/// "[12,0,3]": a JSON array, so that SQL reads it with json_each.
void RowBinder::field(const std::vector<std::uint64_t>& counts) { text(fmt::format("[{}]", fmt::join(counts, ","))); }

void RowBinder::real(double value)
{
    if (std::isnan(value))
        null();
    else
        m_statement.bind(m_parameter++, value);
}

void RowBinder::time(std::int64_t ns)
{
    checkTime(ns);
    integer(ns);
}

void RowBinder::duration(std::int64_t ns)
{
    checkDuration(ns);
    integer(ns);
}

void RowBinder::boundedReference(std::uint32_t id, std::uint32_t count)
{
    checkReference(id, count);
    integer(id);
}

bool RowReader::isNull() { return m_row.getColumn(m_column).isNull(); }

std::int64_t RowReader::integer(std::int64_t least, std::int64_t most)
{
    const SQLite::Column column = m_row.getColumn(m_column++);
    if (!column.isInteger())
        throw BadField(fmt::format("has no integer in column {}", column.getName()));
    const std::int64_t value = column.getInt64();
    if (value < least || value > most)
        throw BadField(fmt::format("has {} out of range in column {}", value, column.getName()));
    return value;
}

std::string_view RowReader::text()
{
    const SQLite::Column column = m_row.getColumn(m_column++);
    if (!column.isText())
        throw BadField(fmt::format("has no text in column {}", column.getName()));
    const char* const begin = column.getText();
    return {begin, static_cast<std::size_t>(column.getBytes())};
}

void RowReader::field(double& value)
{
    const SQLite::Column column = m_row.getColumn(m_column++);
    if (!column.isFloat() && !column.isInteger())
        throw BadField(fmt::format("has no number in column {}", column.getName()));
    value = column.getDouble();
}

void RowReader::field(std::string& value) { value = mendedUtf8(text()); }

void RowReader::field(RoleSet& value)
{
    std::string_view rest = text();
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        const std::optional<Role> role = roleFromString(rest.substr(0, comma));
        if (!role)
            throw BadField(
                fmt::format("has the unknown role '{}'", mendedUtf8(rest.substr(0, std::min<std::size_t>(comma, 40)))));
        value.insert(*role);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
}

void RowReader::field(std::vector<std::uint64_t>& counts)
{
    const std::string_view list = text();
    const BadField bad("has something that is not a list of counts");
    if (list.size() < 2 || list.front() != '[' || list.back() != ']')
        throw bad;
    const char* at = list.data() + 1;
    const char* const end = list.data() + list.size() - 1;
    while (at != end) {
        if (counts.size() == ExponentHistogram::kMostExponents)
            throw BadField(fmt::format("has a list of more than {} counts", ExponentHistogram::kMostExponents));
        const auto [rest, failure] = std::from_chars(at, end, counts.emplace_back());
        const bool last = rest == end;
        if (failure != std::errc() || (!last && (*rest != ',' || rest + 1 == end)))
            throw bad;
        at = last ? end : rest + 1;
    }
}

template <typename E, typename Parse>
void RowReader::spelled(E& value, Parse parse)
{
    const std::string_view spelling = text();
    const std::optional<E> parsed = parse(spelling);
    if (!parsed)
        throw BadField(fmt::format("has the unknown word '{}'", mendedUtf8(spelling.substr(0, 40))));
    value = *parsed;
}

void RowReader::field(Role& value) { spelled(value, roleFromString); }
void RowReader::field(Phase& value) { spelled(value, phaseFromString); }
void RowReader::field(Precision& value) { spelled(value, precisionFromString); }
void RowReader::field(Origin& value) { spelled(value, originFromString); }
void RowReader::field(NameKind& value) { spelled(value, nameKindFromString); }
void RowReader::field(TrackKind& value) { spelled(value, trackKindFromString); }
void RowReader::field(Severity& value) { spelled(value, severityFromString); }

void RowReader::real(double& value)
{
    if (isNull()) {
        ++m_column;
        value = std::numeric_limits<double>::quiet_NaN();
    } else {
        field(value);
    }
}

void RowReader::time(std::int64_t& ns)
{
    field(ns);
    checkTime(ns);
}

void RowReader::duration(std::int64_t& ns)
{
    field(ns);
    checkDuration(ns);
}

std::uint32_t RowReader::boundedReference(std::uint32_t count)
{
    const std::int64_t id = integer(INT64_MIN, INT64_MAX);
    checkReference(id, count);
    return static_cast<std::uint32_t>(id);
}

}  // namespace fp8scope::rows

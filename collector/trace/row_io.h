// SPDX-License-Identifier: Apache-2.0
// The two sides of table_rows.h: binding a row to an INSERT, and reading a row that may hold anything.
#pragma once

#include "collector/trace/table_rows.h"

#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fp8scope::rows {

/// What is wrong with a field, in one clause ("refers to run 7 of 3"). Who knows file, table and row makes an Error of
/// it.
struct BadField : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <typename E>
concept Enum = std::is_enum_v<E>;

/// Binds fields to a statement's parameters from 2 on (1 is the id). Throws BadField for what the reader would refuse.
class RowBinder {
public:
    explicit RowBinder(SQLite::Statement& statement) : m_statement(statement) {}

    template <std::integral I>
    void field(I value)
    {
        integer(static_cast<std::int64_t>(value));
    }
    void field(double value);
    void field(const std::string& value);
    void field(RoleSet value);
    void field(const std::vector<std::uint64_t>& counts);
    template <Enum E>
    void field(E value)
    {
        text(toString(value));
    }
    void real(double value);
    void time(std::int64_t ns);
    void duration(std::int64_t ns);
    template <typename Tag>
    void reference(Id<Tag> id, std::uint32_t count)
    {
        boundedReference(id.value, count);
    }
    template <typename Tag>
    void optionalReference(Id<Tag> id, std::uint32_t count)
    {
        if (id.valid())
            boundedReference(id.value, count);
        else
            null();
    }

private:
    void integer(std::int64_t value);
    void text(std::string_view value);
    void null();
    void boundedReference(std::uint32_t id, std::uint32_t count);

    SQLite::Statement& m_statement;
    int m_parameter = 2;
};

/// Reads fields from a row's columns from 1 on (0 is the id). Throws BadField for a wrong type, spelling, range or
/// reference. Text that is not UTF-8 is mended, not refused: kernel names come from anywhere.
class RowReader {
public:
    explicit RowReader(SQLite::Statement& row) : m_row(row) {}

    void field(std::int64_t& value) { value = integer(INT64_MIN, INT64_MAX); }
    void field(std::uint64_t& value) { value = static_cast<std::uint64_t>(integer(INT64_MIN, INT64_MAX)); }
    void field(std::int32_t& value) { value = static_cast<std::int32_t>(integer(INT32_MIN, INT32_MAX)); }
    void field(std::uint32_t& value) { value = static_cast<std::uint32_t>(integer(0, UINT32_MAX)); }
    void field(bool& value) { value = integer(0, 1) != 0; }
    void field(double& value);
    void field(std::string& value);
    void field(RoleSet& value);
    void field(std::vector<std::uint64_t>& counts);
    void field(Role& value);
    void field(Phase& value);
    void field(Precision& value);
    void field(Origin& value);
    void field(NameKind& value);
    void field(TrackKind& value);
    void field(Severity& value);
    void real(double& value);
    void time(std::int64_t& ns);
    void duration(std::int64_t& ns);
    template <typename Tag>
    void reference(Id<Tag>& id, std::uint32_t count)
    {
        id = Id<Tag>(boundedReference(count));
    }
    template <typename Tag>
    void optionalReference(Id<Tag>& id, std::uint32_t count)
    {
        if (isNull())
            ++m_column;
        else
            id = Id<Tag>(boundedReference(count));
    }

private:
    [[nodiscard]] bool isNull();
    std::int64_t integer(std::int64_t least, std::int64_t most);
    std::string_view text();
    std::uint32_t boundedReference(std::uint32_t count);
    template <typename E, typename Parse>
    void spelled(E& value, Parse parse);

    SQLite::Statement& m_row;
    int m_column = 1;
};

}  // namespace fp8scope::rows

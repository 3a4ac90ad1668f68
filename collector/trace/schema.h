// SPDX-License-Identifier: Apache-2.0
// The tables of a `.fp8trace` file, version 1. Every column is explained in resources/help/trace-format.md; a test
// compares.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fp8scope {

inline constexpr std::int32_t kApplicationId = 0x46503854;  // "FP8T"
inline constexpr std::int32_t kSchemaVersion = 1;

/// Tables that came to a version after its first files are optional in it: a file may lack them, and a program that
/// does not know them passes them over. What changes a table raises the version.
struct SchemaObject {
    enum class Presence : std::uint8_t { Required, Optional };

    std::string_view name;
    std::string_view sql;  ///< the CREATE statement, character for character as SQLite keeps it
    Presence presence = Presence::Required;
};

/// In the order of creation.
[[nodiscard]] std::span<const SchemaObject> schemaTables();
/// For people: `steps` reads tables only; `kernels` and `family_time` read the virtual table `slice`.
[[nodiscard]] std::span<const SchemaObject> schemaViews();

}  // namespace fp8scope

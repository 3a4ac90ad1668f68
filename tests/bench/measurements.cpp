// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/measurements.h"

#include "collector/trace/error.h"

#include <zlib.h>

#include <cstdlib>
#include <map>
#include <memory>

namespace fp8scope::bench {
namespace {

/// Calls `onLine` for each line of a file, gzipped or not.
template <typename OnLine>
void forEachLine(const std::filesystem::path& path, OnLine&& onLine)
{
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
    if (!file)
        throw Error("cannot be read", path.string(), "the measured times lie in shared/data beside the checkout");
    std::string line;
    char buffer[4096];
    while (gzgets(file.get(), buffer, sizeof buffer) != nullptr) {
        line += buffer;
        if (line.back() != '\n')
            continue;
        while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
            line.pop_back();
        onLine(line);
        line.clear();
    }
}

/// The fields of a CSV line (RFC 4180, without line breaks in fields).
std::vector<std::string> fieldsOf(const std::string& line)
{
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
            fields.back() += line[i++];
        else if (line[i] == '"')
            quoted = !quoted;
        else if (line[i] == ',' && !quoted)
            fields.emplace_back();
        else
            fields.back() += line[i];
    }
    return fields;
}

/// Reads a table; `onRow` gets a function from column name to field.
template <typename OnRow>
void forEachRow(const std::filesystem::path& path, OnRow&& onRow)
{
    std::map<std::string, std::size_t> columns;
    forEachLine(path, [&](const std::string& line) {
        const std::vector<std::string> fields = fieldsOf(line);
        if (columns.empty()) {
            for (std::size_t i = 0; i < fields.size(); ++i)
                columns[fields[i]] = i;
            return;
        }
        onRow([&](const char* name) { return fields.at(columns.at(name)); });
    });
}

std::int64_t integer(const std::string& text) { return std::atoll(text.c_str()); }
double number(const std::string& text) { return std::atof(text.c_str()); }

std::string deviceId(std::string name)
{
    static const std::map<std::string, std::string> kIds{{"rtx_pro_6000_server", "rtx-pro-6000"}};
    if (const auto known = kIds.find(name); known != kIds.end())
        return known->second;
    for (char& c : name)
        c = c == '_' ? '-' : c;
    return name;
}

}  // namespace

std::vector<MeasuredRow> readMeasured(const std::filesystem::path& directory)
{
    std::vector<MeasuredRow> rows;
    forEachRow(directory / "gemm_measured.csv.gz", [&](const auto& field) {
        rows.push_back({.device = deviceId(field("device")),
                        .framework = field("framework"),
                        .version = field("version"),
                        .dtype = field("dtype"),
                        .m = integer(field("m")),
                        .n = integer(field("n")),
                        .k = integer(field("k")),
                        .us = number(field("time_us")),
                        .sustained = !field("power_w").empty()});
    });
    return rows;
}

std::vector<PublishedRow> readPublished(const std::filesystem::path& directory)
{
    std::vector<PublishedRow> rows;
    forEachRow(directory / "gemm_published.csv", [&](const auto& field) {
        rows.push_back({.device = field("device"),
                        .library = field("library"),
                        .op = field("op"),
                        .typeA = field("dtype_a"),
                        .scaling = field("scaling"),
                        .extra = field("extra"),
                        .source = field("source"),
                        .m = integer(field("m")),
                        .n = integer(field("n")),
                        .k = integer(field("k")),
                        .us = number(field("time_us")),
                        .powerW = number(field("power_w"))});
    });
    return rows;
}

bool isTrainingPair(std::int64_t n, std::int64_t k)
{
    std::uint64_t hash = 1469598103934665603U;
    for (const char c : std::to_string(n) + "x" + std::to_string(k))
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return (hash >> 32) % 10 < 6;
}

}  // namespace fp8scope::bench

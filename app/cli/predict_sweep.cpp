// SPDX-License-Identifier: Apache-2.0
// `fp8scope predict --sweep`: the break-even map over M, K and N.
#include "app/cli/predict.h"

#include "collector/trace/error.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace fp8scope::cli {
namespace {

constexpr std::size_t kMostShapes = 10'000'000;
constexpr std::int64_t kLargestExtent = std::int64_t{1} << 40;

std::int64_t extentFrom(std::string_view text, std::string_view range)
{
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || value < 1 || value > kLargestExtent)
        throw Error(fmt::format("'{}' is not a range", range), "--sweep",
                    "give M=1024, M=1024:16384 (doubling) or M=1024:16384:512 (in steps), and so K and N");
    return value;
}

/// "4096", "1024:16384" (doubling) or "1024:16384:512" (in steps).
std::vector<std::int64_t> extentsOf(std::string_view range)
{
    const std::size_t colon = range.find(':');
    const std::int64_t low = extentFrom(range.substr(0, colon), range);
    if (colon == std::string_view::npos)
        return {low};
    const std::string_view rest = range.substr(colon + 1);
    const std::size_t second = rest.find(':');
    const std::int64_t high = extentFrom(rest.substr(0, second), range);
    const std::int64_t step = second == std::string_view::npos ? 0 : extentFrom(rest.substr(second + 1), range);
    std::vector<std::int64_t> extents;
    for (std::int64_t x = low; x <= high && extents.size() <= kMostShapes; x = step > 0 ? x + step : 2 * x)
        extents.push_back(x);
    if (extents.empty())
        throw Error(fmt::format("the range '{}' is empty", range), "--sweep", "the lower end comes first");
    return extents;
}

struct Grid {
    std::array<std::vector<std::int64_t>, 3> extents;  ///< of M, K, N
    [[nodiscard]] std::size_t size() const { return extents[0].size() * extents[1].size() * extents[2].size(); }
};

Grid gridOf(const std::vector<std::string>& ranges)
{
    Grid grid;
    for (const std::string& range : ranges) {
        const std::size_t axis = range.size() > 2 && range[1] == '=' ? std::string_view("MKN").find(range[0]) : 3;
        if (axis > 2)
            throw Error(fmt::format("'{}' is not a range of M, K or N", range), "--sweep",
                        "example: --sweep M=1024:65536 K=1024:16384 N=4096");
        grid.extents[axis] = extentsOf(std::string_view(range).substr(2));
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (grid.extents[axis].empty())
            throw Error(fmt::format("{} is not given", "MKN"[axis]), "--sweep",
                        "example: --sweep M=1024:65536 K=1024:16384 N=4096");
    }
    if (grid.size() > kMostShapes)
        throw Error(fmt::format("{} shapes are too many", grid.size()), "--sweep",
                    fmt::format("at most {}", kMostShapes));
    return grid;
}

/// The speedup of each shape, N fastest, then K, then M.
std::vector<double> speedupsOf(const predict::DeviceModel& device, const LayerQuestion& question, const Grid& grid)
{
    const RecipeChoice recipe = recipesNamed(device, question.recipes).at(0);
    predict::LinearCase c{.recipe = recipe.gemm,
                          .quantization = recipe.quantization.value_or(!question.quantization.empty() &&
                                                                               question.quantization[0] == "fused"
                                                                           ? predict::Quantization::Fused
                                                                           : predict::Quantization::Dynamic),
                          .pass = question.pass,
                          .clock = question.clock};
    std::vector<double> speedups;
    speedups.reserve(grid.size());
    for (const std::int64_t m : grid.extents[0]) {
        for (const std::int64_t k : grid.extents[1]) {
            for (const std::int64_t n : grid.extents[2]) {
                c.shape = {m, n, k};
                speedups.push_back(predictLinear(device, c).speedup());
            }
        }
    }
    return speedups;
}

std::string csvOf(const Grid& grid, const std::vector<double>& speedups)
{
    std::string out = "m,n,k,speedup\n";
    std::size_t at = 0;
    for (const std::int64_t m : grid.extents[0]) {
        for (const std::int64_t k : grid.extents[1]) {
            for (const std::int64_t n : grid.extents[2])
                fmt::format_to(std::back_inserter(out), "{},{},{},{:.4f}\n", m, n, k, speedups[at++]);
        }
    }
    return out;
}

Json jsonOf(const predict::DeviceModel& device, const Grid& grid, const std::vector<double>& speedups)
{
    return {{"schema_version", kJsonSchema}, {"origin", toString(Origin::Predicted)},
            {"device", device.spec.id},      {"m", grid.extents[0]},
            {"k", grid.extents[1]},          {"n", grid.extents[2]},
            {"order", "m, then k, then n"},  {"speedup", speedups}};
}

/// One map a K: rows are M, columns N.
void printMaps(const predict::DeviceModel& device, const Grid& grid, const std::vector<double>& speedups)
{
    constexpr std::size_t kMostColumns = 11;
    const auto& [ms, ks, ns] = grid.extents;
    const std::size_t columns = std::min(ns.size(), kMostColumns);
    for (std::size_t ki = 0; ki < ks.size(); ++ki) {
        Table table;
        table.headline = fmt::format("K = {}: speedup of fp8 over bf16, {}", ks[ki], predictedFor(device));
        table.columns.push_back({"M \\ N", "m"});
        for (std::size_t ni = 0; ni < columns; ++ni)
            table.columns.push_back({std::to_string(ns[ni]), std::to_string(ns[ni])});
        for (std::size_t mi = 0; mi < ms.size(); ++mi) {
            std::vector<Cell> row{countCell(static_cast<std::uint64_t>(ms[mi]))};
            for (std::size_t ni = 0; ni < columns; ++ni) {
                const double speedup = speedups[(mi * ks.size() + ki) * ns.size() + ni];
                row.push_back({fmt::format("{:.2f}", speedup), speedup});
            }
            table.rows.push_back(std::move(row));
        }
        if (columns < ns.size())
            table.notes.push_back(fmt::format("{} more columns; --format csv or json has all", ns.size() - columns));
        print((ki > 0 ? "\n" : "") + renderTable(table));
    }
}

}  // namespace

void printSweep(const predict::DeviceModel& device, const LayerQuestion& question,
                const std::vector<std::string>& ranges)
{
    const Grid grid = gridOf(ranges);
    if (device.spec.peakFp8 <= 0)
        throw Error(fmt::format("{} has no fp8 arithmetic", device.spec.name), "--device",
                    "`fp8scope devices` shows what each device can do");
    const std::vector<double> speedups = speedupsOf(device, question, grid);
    if (question.format == Format::Csv)
        print(csvOf(grid, speedups));
    else if (question.format == Format::Json)
        printJson(jsonOf(device, grid, speedups));
    else
        printMaps(device, grid, speedups);
}

}  // namespace fp8scope::cli

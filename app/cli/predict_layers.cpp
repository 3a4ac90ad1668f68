// SPDX-License-Identifier: Apache-2.0
// `fp8scope predict --shapes`: would fp8 pay for these linear layers?
#include "app/cli/predict.h"

#include "app/analysis/overview.h"
#include "app/cli/read_file.h"
#include "collector/trace/error.h"
#include "engine/plan/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

namespace fp8scope::cli {
namespace {

using predict::GemmKind;
using predict::LinearCase;
using predict::LinearShape;
using predict::LinearTime;
using predict::Quantization;

constexpr std::int64_t kLargestExtent = std::int64_t{1} << 40;

std::int64_t extentFrom(std::string_view text, const std::string& where)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
        text.remove_suffix(1);
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || value < 1 || value > kLargestExtent)
        throw Error(fmt::format("'{}' is not an extent of a matrix", text), where, "give whole numbers of 1 or more");
    return value;
}

std::vector<std::string> split(const std::string& line, char separator)
{
    std::vector<std::string> parts;
    std::istringstream in(line);
    for (std::string part; std::getline(in, part, separator);)
        parts.push_back(part);
    return parts;
}

LinearShape shapeFrom(const std::string& text)
{
    const std::vector<std::string> parts = split(text, ',');
    if (parts.size() != 3)
        throw Error(fmt::format("'{}' is no shape", text), "--shapes",
                    "give M,K,N (tokens, inputs, outputs) or a CSV file with columns m, n and k");
    return {.m = extentFrom(parts[0], "--shapes"),
            .n = extentFrom(parts[2], "--shapes"),
            .k = extentFrom(parts[1], "--shapes")};
}

/// The columns m, n and k of a CSV file; others are passed over.
std::vector<LinearShape> shapesOfFile(const std::string& path)
{
    std::istringstream in(readFile(path));
    std::string line;
    std::getline(in, line);
    std::array<std::size_t, 3> column{};
    const std::vector<std::string> header = split(line, ',');
    for (std::size_t i = 0; i < column.size(); ++i) {
        const std::string name(1, "mnk"[i]);
        const auto at = std::ranges::find_if(header, [&](std::string title) {
            std::erase_if(title, [](char c) { return c == '\r' || c == ' ' || c == '"'; });
            return title == name;
        });
        if (at == header.end())
            throw Error(fmt::format("there is no column '{}'", name), path + ":1",
                        "the first line names the columns, m, n and k among them");
        column[i] = static_cast<std::size_t>(at - header.begin());
    }
    std::vector<LinearShape> shapes;
    for (int number = 2; std::getline(in, line); ++number) {
        if (line.empty() || line == "\r")
            continue;
        const std::vector<std::string> fields = split(line, ',');
        const std::string where = fmt::format("{}:{}", path, number);
        if (fields.size() <= *std::ranges::max_element(column))
            throw Error("the line has too few fields", where, "");
        shapes.push_back({extentFrom(fields[column[0]], where), extentFrom(fields[column[1]], where),
                          extentFrom(fields[column[2]], where)});
    }
    return shapes;
}

bool isShape(const std::string& text) { return text.find_first_not_of("0123456789, ") == std::string::npos; }

std::vector<LinearShape> shapesOf(const std::vector<std::string>& texts)
{
    std::vector<LinearShape> shapes;
    for (const std::string& text : texts) {
        if (isShape(text)) {
            shapes.push_back(shapeFrom(text));
            continue;
        }
        const std::vector<LinearShape> more = shapesOfFile(text);
        shapes.insert(shapes.end(), more.begin(), more.end());
    }
    if (shapes.empty())
        throw Error("there are no shapes", "--shapes", "give M,K,N or a CSV file with columns m, n and k");
    return shapes;
}

Quantization quantizationNamed(const std::string& name)
{
    for (const Quantization q :
         {Quantization::None, Quantization::Static, Quantization::Dynamic, Quantization::Fused, Quantization::Eager}) {
        if (toString(q) == name)
            return q;
    }
    throw Error(fmt::format("'{}' is no way to quantize", name), "--quantization",
                "ways are none, static, dynamic, fused and eager");
}

std::vector<Quantization> waysOf(const LayerQuestion& question)
{
    std::vector<Quantization> ways;
    for (const std::string& name : question.quantization)
        ways.push_back(quantizationNamed(name));
    if (ways.empty() && question.format == Format::Csv)
        return {Quantization::Dynamic};
    return ways.empty() ? std::vector{Quantization::Eager, Quantization::Dynamic, Quantization::Fused} : ways;
}

struct Answer {
    LinearShape shape;
    std::string recipe;  ///< "bf16" where the device has no fp8
    Quantization quantization = Quantization::Dynamic;
    LinearTime time;
    bool hasFp8 = true;
};

std::vector<Answer> answersTo(const predict::DeviceModel& device, const LayerQuestion& question)
{
    const std::vector<RecipeChoice> recipes = recipesNamed(device, question.recipes);
    std::vector<Answer> answers;
    for (const LinearShape& shape : shapesOf(question.shapes)) {
        LinearCase c{.shape = shape, .pass = question.pass, .clock = question.clock};
        if (device.spec.peakFp8 <= 0) {
            c.recipe = GemmKind::Bf16;
            c.quantization = Quantization::None;
            answers.push_back({shape, "bf16", c.quantization, predictLinear(device, c), false});
            continue;
        }
        for (const RecipeChoice& recipe : recipes) {
            std::vector<Quantization> ways = waysOf(question);
            if (recipe.quantization)
                ways = {*recipe.quantization};
            for (const Quantization way : ways) {
                c.recipe = recipe.gemm;
                c.quantization = way;
                answers.push_back({shape, recipe.name, way, predictLinear(device, c)});
            }
        }
    }
    return answers;
}

Cell microseconds(double us, const std::string& unit)
{
    return {analysis::formatTime(static_cast<std::int64_t>(us * 1e3), unit), us};
}

std::string verdictOf(const Answer& answer)
{
    return answer.hasFp8 ? std::string(toString(answer.time.verdict())) : "no fp8 on this device";
}

Table tableOf(const std::vector<Answer>& answers, const LayerQuestion& question)
{
    Table table;
    table.columns = {{"M", "m"},
                     {"K", "k"},
                     {"N", "n"},
                     {"recipe", "recipe", false},
                     {"casts", "quantization", false},
                     {"bf16", "bf16_us"},
                     {"fp8 GEMM", "fp8_gemm_us"},
                     {"casting", "quantize_us"},
                     {"fp8", "fp8_us"},
                     {"speedup", "speedup"},
                     {"verdict", "verdict", false}};
    for (const Answer& a : answers) {
        const std::string& unit = question.timeUnit;
        const Cell none{"-", Json()};
        table.rows.push_back({countCell(static_cast<std::uint64_t>(a.shape.m)),
                              countCell(static_cast<std::uint64_t>(a.shape.k)),
                              countCell(static_cast<std::uint64_t>(a.shape.n)), textCell(a.recipe),
                              a.hasFp8 ? textCell(toString(a.quantization)) : none, microseconds(a.time.bf16Us(), unit),
                              a.hasFp8 ? microseconds(a.time.fp8GemmUs, unit) : none,
                              a.hasFp8 ? microseconds(a.time.quantizeUs, unit) : none,
                              a.hasFp8 ? microseconds(a.time.fp8Us(), unit) : none,
                              a.hasFp8 ? Cell{fmt::format("{:.2f}x", a.time.speedup()), a.time.speedup()} : none,
                              textCell(verdictOf(a))});
    }
    return table;
}

/// The contract of --format csv: these columns, in this order.
std::string csvOf(const std::vector<Answer>& answers)
{
    std::string out = "m,n,k,recipe,bf16_gemm_us,fp8_gemm_us,quantize_us,bf16_us,fp8_us,speedup,verdict\n";
    for (const Answer& a : answers) {
        fmt::format_to(std::back_inserter(out), "{},{},{},{},{:.6g},", a.shape.m, a.shape.n, a.shape.k, a.recipe,
                       a.time.bf16GemmUs);
        if (a.hasFp8)
            fmt::format_to(std::back_inserter(out), "{:.6g},{:.6g},{:.6g},{:.6g},{:.4f},", a.time.fp8GemmUs,
                           a.time.quantizeUs, a.time.bf16Us(), a.time.fp8Us(), a.time.speedup());
        else
            fmt::format_to(std::back_inserter(out), ",,{:.6g},,,", a.time.bf16Us());
        out += verdictOf(a) + '\n';
    }
    return out;
}

Json jsonOf(const predict::DeviceModel& device, const std::vector<Answer>& answers)
{
    Json document{{"schema_version", kJsonSchema},
                  {"origin", toString(Origin::Predicted)},
                  {"device", device.spec.id},
                  {"provenance", device.provenance},
                  {"layers", Json::array()}};
    for (const Answer& a : answers) {
        Json row{{"m", a.shape.m},
                 {"n", a.shape.n},
                 {"k", a.shape.k},
                 {"recipe", a.recipe},
                 {"bf16_us", a.time.bf16Us()},
                 {"bf16_bound", toString(a.time.bf16Bound)}};
        if (a.hasFp8) {
            row["quantization"] = toString(a.quantization);
            row["fp8_gemm_us"] = a.time.fp8GemmUs;
            row["fp8_bound"] = toString(a.time.fp8Bound);
            row["quantize_us"] = a.time.quantizeUs;
            row["fp8_us"] = a.time.fp8Us();
            row["speedup"] = a.time.speedup();
            row["launches"] = a.time.launches;
        }
        row["verdict"] = verdictOf(a);
        document["layers"].push_back(std::move(row));
    }
    return document;
}

}  // namespace

std::string predictedFor(const predict::DeviceModel& device)
{
    return fmt::format("predicted for {} ({}), not measured", device.spec.name, device.provenance);
}

std::vector<RecipeChoice> recipesNamed(const predict::DeviceModel& device, const std::vector<std::string>& names)
{
    const std::vector<RecipeChoice> known{{"tensorwise", GemmKind::Tensorwise, std::nullopt},
                                          {"delayed", GemmKind::Tensorwise, Quantization::Static},
                                          {"rowwise", GemmKind::Rowwise, std::nullopt},
                                          {"blockwise", GemmKind::Blockwise, std::nullopt},
                                          {"mxfp8", GemmKind::Mxfp8, std::nullopt}};
    std::vector<std::string> words;
    for (const RecipeChoice& recipe : known)
        words.push_back(recipe.name);
    std::vector<RecipeChoice> chosen;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(known, name, &RecipeChoice::name);
        if (found != known.end()) {
            if (device.spec.peakFp8 > 0)
                (void)device.constantsOf(found->gemm);
            chosen.push_back(*found);
        } else if (name == "all") {
            std::ranges::copy_if(known, std::back_inserter(chosen),
                                 [&](const RecipeChoice& r) { return device.supports(r.gemm); });
        } else {
            const auto near = plan::nearest(name, words);
            throw Error(fmt::format("there is no recipe '{}'", name), "--recipe",
                        near ? fmt::format("did you mean '{}'?", *near)
                             : fmt::format("recipes are {} and all", fmt::join(words, ", ")));
        }
    }
    return chosen;
}

void printLayers(const predict::DeviceModel& device, const LayerQuestion& question)
{
    const std::vector<Answer> answers = answersTo(device, question);
    if (question.format == Format::Csv) {
        print(csvOf(answers));
    } else if (question.format == Format::Json) {
        printJson(jsonOf(device, answers));
    } else {
        Table table = tableOf(answers, question);
        table.headline = predictedFor(device);
        table.notes = {
            "", fmt::format("{} at the {} clock; break-even is within {:.0f}% of 1. `fp8scope devices {}` shows "
                            "how far predictions were from measurements.",
                            question.pass == predict::Pass::Training ? "forward, dgrad and wgrad" : "the forward pass",
                            toString(question.clock), 100 * predict::kBreakEvenMargin, device.spec.id)};
        print(renderTable(table));
    }
}

}  // namespace fp8scope::cli

// SPDX-License-Identifier: Apache-2.0
#include "collector/export/chrome_arguments.h"

#include "collector/export/json_escape.h"

#include <cmath>

namespace fp8scope::exporter {
namespace {

template <typename T>
void add(std::string& object, std::string_view key, const T& value)
{
    object += fmt::format(", \"{}\": {}", key, value);
}

void addText(std::string& object, std::string_view key, std::string_view value)
{
    if (!value.empty())
        object += fmt::format(", \"{}\": \"{}\"", key, escapedJson(value));
}

std::string argumentsOf(const Name& name)
{
    std::string object;
    if (name.precision != Precision::Unknown)
        addText(object, "precision", toString(name.precision));
    addText(object, "library", name.library);
    return object;
}

std::string argumentsOf(const LaunchShape& shape)
{
    std::string object;
    add(object, "registers per thread", shape.registers);
    add(object, "shared memory", std::uint64_t{shape.staticShared} + shape.dynamicShared);
    add(object, "grid", fmt::format("[{}, {}, {}]", shape.grid[0], shape.grid[1], shape.grid[2]));
    add(object, "block", fmt::format("[{}, {}, {}]", shape.block[0], shape.block[1], shape.block[2]));
    if (shape.cluster[0] != 0)
        add(object, "cluster", fmt::format("[{}, {}, {}]", shape.cluster[0], shape.cluster[1], shape.cluster[2]));
    return object;
}

std::string argumentsOf(const TraceOp& op, const Trace& trace)
{
    std::string object;
    addText(object, "op", op.name);
    if (op.layer.valid())
        addText(object, "layer", trace.layer(op.layer).name);
    addText(object, "phase", toString(op.phase));
    if (op.m != 0 || op.n != 0) {
        add(object, "M", op.m);
        add(object, "N", op.n);
        add(object, "K", op.k);
    }
    addText(object, "A type", op.aType);
    addText(object, "B type", op.bType);
    addText(object, "D type", op.dType);
    addText(object, "recipe", op.recipe);
    addText(object, "epilogue", op.epilogue);
    if (op.flops > 0 && std::isfinite(op.flops))
        add(object, "flops", fmt::format("{:.0f}", op.flops));
    return object;
}

}  // namespace

ChromeArguments::ChromeArguments(const Trace& trace)
{
    for (const Name& name : trace.names)
        ofName.push_back(argumentsOf(name));
    for (const LaunchShape& shape : trace.launchShapes)
        ofShape.push_back(argumentsOf(shape));
    for (const TraceOp& op : trace.ops)
        ofOp.push_back(argumentsOf(op, trace));
}

}  // namespace fp8scope::exporter

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/gui/gui_fixture.h"

#include "tests/support/trace_builder.h"

#include <QTest>

#include <string>

namespace fp8scope::gui::test {

namespace {

using fp8scope::test::TraceBuilder;

constexpr std::int64_t kUs = 1000;
constexpr std::uint32_t kSteps = 6;

struct StepShape {
    std::int64_t gemmUs, castUs, idleUs;
    bool fp8;
};

/// One step from `start`; returns its end.
std::int64_t addStep(TraceBuilder& builder, std::int64_t start, const StepShape& shape)
{
    std::int64_t now = start;
    for (const char* layer : {"in", "out"}) {
        const std::string prefix = layer;
        const LayerId id = builder.layerId(layer);
        if (shape.castUs > 0) {
            builder.opSlice(now, shape.castUs * kUs,
                            {.layer = id,
                             .name = prefix + ".fwd.cast_x",
                             .phase = Phase::Forward,
                             .role = Role::Cast,
                             .m = 64,
                             .n = 128,
                             .aType = "bf16",
                             .dType = "e4m3",
                             .bytes = 64 * 128 * 3},
                            Precision::Fp8);
            now += shape.castUs * kUs;
        }
        const std::string type = shape.fp8 ? "e4m3" : "bf16";
        builder.opSlice(now, shape.gemmUs * kUs,
                        {.layer = id,
                         .name = prefix + ".fwd.gemm",
                         .phase = Phase::Forward,
                         .role = Role::Gemm,
                         .m = 64,
                         .n = 128,
                         .k = 128,
                         .aType = type,
                         .bType = type,
                         .dType = "bf16",
                         .flops = 2.0 * 64 * 128 * 128,
                         .bytes = 64 * 128 * 3},
                        shape.fp8 ? Precision::Fp8 : Precision::Bf16);
        now += shape.gemmUs * kUs;
    }
    return now + shape.idleUs * kUs;
}

}  // namespace

Trace smallTrace()
{
    TraceBuilder builder;
    std::int64_t now = 0;
    const std::pair<const char*, StepShape> runs[] = {
        {"bf16", {40, 0, 0, false}}, {"fp8", {20, 10, 5, true}}, {"fp8-fused", {20, 4, 0, true}}};
    for (const auto& [mode, shape] : runs) {
        builder.run(mode, Origin::MeasuredGpu);
        builder.device({.name = "Test GPU",
                        .kind = "gpu",
                        .arch = "sm_90",
                        .units = 132,
                        .peakFp8 = 2e15,
                        .peak16 = 1e15,
                        .hasFp8 = true});
        builder.layer("in", 128, 128, shape.fp8 ? "fp8" : "bf16");
        builder.layer("out", 128, 128, shape.fp8 ? "fp8" : "bf16");
        builder.track("queue 0");
        for (std::uint32_t step = 0; step < kSteps; ++step) {
            const std::int64_t start = now;
            now = addStep(builder, start, shape);
            builder.step(step, start, now - start, 1.0 / (step + 1));
        }
    }
    return builder.build();
}

std::shared_ptr<const LoadedTrace> loadedOf(Trace trace, const QString& path)
{
    auto loaded = std::make_shared<LoadedTrace>();
    loaded->path = path;
    loaded->trace = std::move(trace);
    loaded->overview = analysis::overview(loaded->trace);
    return loaded;
}

QString printed(const QAbstractItemModel& model)
{
    QStringList lines;
    const auto addLine = [&](const std::function<QString(int)>& cell) {
        QStringList cells;
        for (int column = 0; column < model.columnCount(); ++column)
            cells.append(cell(column));
        lines.append(cells.join(QStringLiteral(" | ")));
    };
    addLine([&](int column) {
        return model.headerData(column, Qt::Horizontal).toString().replace(QLatin1Char('\n'), QLatin1Char(' '));
    });
    for (int row = 0; row < model.rowCount(); ++row)
        addLine([&](int column) { return model.index(row, column).data().toString(); });
    return lines.join(QLatin1Char('\n'));
}

bool waitFor(const std::function<bool()>& condition)
{
    constexpr int kMilliseconds = 30000;  // only a hung test waits so long
    return QTest::qWaitFor(condition, kMilliseconds);
}

}  // namespace fp8scope::gui::test

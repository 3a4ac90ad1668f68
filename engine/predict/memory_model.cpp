// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/memory_model.h"

#include <algorithm>
#include <cmath>

namespace fp8scope::predict {
namespace {

/// How much of `bytes` L2 still holds: all of what is small against its share, none of what is large.
double warmth(const GemmMachine& machine, const QuantizerConstants& c, double bytes)
{
    const double relative = bytes / (c.l2Share * machine.l2Bytes + 1);
    return 1 / (1 + relative * relative * relative);
}

double bytesPerUs(const GemmMachine& machine, const QuantizerConstants& c, double bytes)
{
    return machine.bandwidth * 1e-6 * c.dramFraction * (1 + (c.l2Boost - 1) * warmth(machine, c, bytes));
}

MemoryTime withFloor(double floorUs, double us) { return {floorUs + us, floorUs > us ? Bound::Launch : Bound::Memory}; }

}  // namespace

MemoryTime predictQuantizer(const GemmMachine& machine, const QuantizerConstants& c, QuantizerKind kind, std::int64_t m,
                            std::int64_t k)
{
    const double rows = static_cast<double>(m), cols = static_cast<double>(k);
    const double stream = rows * cols * bytesPerElement(kind) / bytesPerUs(machine, c, 3 * rows * cols);
    const double along = std::ceil(rows / (machine.sms * c.rowsPerSm)) * (c.rowUs + cols * c.rowUsPerK);
    const double stream2 = stream * stream, along2 = along * along;
    return withFloor(c.floorUs, std::sqrt(std::sqrt(stream2 * stream2 + along2 * along2)));
}

MemoryTime predictStream(const GemmMachine& machine, const QuantizerConstants& cast, double bytes, double fraction)
{
    return withFloor(cast.floorUs, bytes / (bytesPerUs(machine, cast, bytes) * fraction));
}

}  // namespace fp8scope::predict

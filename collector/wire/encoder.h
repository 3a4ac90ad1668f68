// SPDX-License-Identifier: Apache-2.0
// Records to bytes, on the producer's side.
#pragma once

#include "collector/wire/records.h"

#include <cstddef>
#include <span>
#include <vector>

namespace fp8scope::wire {

/// Appends records to a byte buffer that the producer sends and clears. Gives ids to what it is told, counting as the
/// decoder does. Throws nothing but std::bad_alloc. Not thread-safe.
class Encoder {
public:
    void append(const Hello&);
    void append(const RunBegin&);
    void append(const RunEnd&);
    [[nodiscard]] LocalDevice append(const Device&);
    [[nodiscard]] LocalTrack append(const Track&);
    [[nodiscard]] LocalName append(const Name&);
    [[nodiscard]] LocalLaunchShape append(const LaunchShape&);
    [[nodiscard]] LocalLayer append(const Layer&);
    [[nodiscard]] LocalOp append(const Op&);
    [[nodiscard]] LocalTensor append(const Tensor&);
    /// Splits what is longer than kMaxBatchSlices. Columns that no slice uses cost nothing.
    void append(LocalTrack, std::span<const Slice>);
    void append(const StepEnd&);
    void append(const TensorStat&);
    void append(const ExponentHistogram&);
    void append(const StepValue&);
    void append(const TensorError&);
    void append(const MemoryClass&);
    void append(const Sample&);
    void append(const Diagnostic&);
    void append(const Bye&);

    [[nodiscard]] std::span<const std::byte> bytes() const { return m_bytes; }
    /// Forgets the bytes and keeps the ids.
    void clear() { m_bytes.clear(); }

private:
    template <typename R>
    void appendRecord(const R&);
    void appendBatch(LocalTrack, std::span<const Slice>);
    [[nodiscard]] std::size_t openFrame(std::uint8_t kind);
    void closeFrame(std::size_t start);

    std::vector<std::byte> m_bytes;
    std::uint32_t m_devices = 0, m_names = 0, m_shapes = 0;
    std::uint32_t m_tracks = 0, m_layers = 0, m_ops = 0, m_tensors = 0;
};

}  // namespace fp8scope::wire

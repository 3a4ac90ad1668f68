// SPDX-License-Identifier: Apache-2.0
// Writes a `.fp8trace` file: one SQLite database, slices in compressed column blocks (schema:
// resources/help/trace-format.md).
#pragma once

#include "collector/trace/slice_record.h"
#include "collector/trace/trace.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fp8scope {

/// The only way a trace file comes to be. Not thread-safe; one writer a file, enforced by a lock held until it is
/// destroyed. Memory is bounded: a track's buffer is written as a block when it holds kBlockSlices. Everything before
/// the last flush() survives a kill or a power cut; the file is marked incomplete until close(). Every method throws
/// fp8scope::Error when the disk is full or the file cannot be written; what was flushed stays readable.
class TraceWriter {
public:
    static constexpr std::size_t kBlockSlices = kMaxBlockSlices;

    enum class IfExists { Refuse, Replace };

    /// Throws Error if the file exists (Refuse), is locked by another writer (always), or cannot be made.
    explicit TraceWriter(const std::filesystem::path& path, IfExists ifExists = IfExists::Refuse);
    ~TraceWriter();  ///< Without close(): flushes what it can and leaves the file marked incomplete.
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    void setMeta(std::string_view key, std::string_view value);
    [[nodiscard]] RunId addRun(const Run&);
    /// Replaces the row of a run: end, completeness, note.
    void updateRun(RunId, const Run&);
    [[nodiscard]] ProcessId addProcess(const Process&);
    [[nodiscard]] DeviceId addDevice(const Device&);
    /// `track.slices` is ignored here.
    [[nodiscard]] TrackId addTrack(const Track&);
    /// Equal names (all fields) get the same id.
    [[nodiscard]] NameId addName(const Name&);
    [[nodiscard]] LaunchShapeId addLaunchShape(const LaunchShape&);
    [[nodiscard]] LayerId addLayer(const Layer&);
    [[nodiscard]] OpId addOp(const TraceOp&);
    void addSlices(TrackId, std::span<const SliceRecord>);
    void addStep(const Step&);
    void addTensorStat(const TensorStat&);
    void addExponentHistogram(const ExponentHistogram&);
    void addStepValue(const StepValue&);
    void addTensorError(const TensorError&);
    void addMemoryClass(const MemoryClass&);
    void addSample(const Sample&);
    /// Same run and name: the count is added to.
    void addDiagnostic(const Diagnostic&);

    /// Makes everything added so far durable (short blocks are later merged into full ones).
    void flush();
    /// flush(), marks the file complete, checkpoints the WAL so that the file stands alone.
    void close();

    [[nodiscard]] const std::filesystem::path& path() const;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Writes a whole in-memory trace (tests, generators, merge).
void saveTrace(const Trace&, const std::filesystem::path&, TraceWriter::IfExists = TraceWriter::IfExists::Refuse);

}  // namespace fp8scope

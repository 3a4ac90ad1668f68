// SPDX-License-Identifier: Apache-2.0
#include "collector/trace/schema.h"

#include <array>

namespace fp8scope {
namespace {

constexpr std::array kTables{
    SchemaObject{"meta", "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT"},
    SchemaObject{"run", R"(CREATE TABLE run(
  id INTEGER PRIMARY KEY,
  mode TEXT NOT NULL,
  origin TEXT NOT NULL,
  config_toml TEXT NOT NULL,
  plan_text TEXT NOT NULL,
  tool TEXT NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  complete INTEGER NOT NULL,
  note TEXT NOT NULL
) STRICT)"},
    SchemaObject{"process", R"(CREATE TABLE process(
  id INTEGER PRIMARY KEY,
  pid INTEGER NOT NULL,
  name TEXT NOT NULL,
  host TEXT NOT NULL,
  rank INTEGER NOT NULL
) STRICT)"},
    SchemaObject{"device", R"(CREATE TABLE device(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  arch TEXT NOT NULL,
  units INTEGER NOT NULL,
  peak_fp8 REAL NOT NULL,
  peak_16 REAL NOT NULL,
  peak_32 REAL NOT NULL,
  peak_bandwidth REAL NOT NULL,
  memory_bytes INTEGER NOT NULL,
  has_fp8 INTEGER NOT NULL
) STRICT)"},
    SchemaObject{"track", R"(CREATE TABLE track(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  process INTEGER NOT NULL REFERENCES process,
  device INTEGER REFERENCES device,
  kind TEXT NOT NULL,
  name TEXT NOT NULL
) STRICT)"},
    SchemaObject{"name", R"(CREATE TABLE name(
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL,
  kind TEXT NOT NULL,
  role TEXT NOT NULL,
  fused TEXT NOT NULL,
  precision TEXT NOT NULL,
  library TEXT NOT NULL
) STRICT)"},
    SchemaObject{"launch_shape", R"(CREATE TABLE launch_shape(
  id INTEGER PRIMARY KEY,
  grid_x INTEGER NOT NULL,
  grid_y INTEGER NOT NULL,
  grid_z INTEGER NOT NULL,
  block_x INTEGER NOT NULL,
  block_y INTEGER NOT NULL,
  block_z INTEGER NOT NULL,
  cluster_x INTEGER NOT NULL,
  cluster_y INTEGER NOT NULL,
  cluster_z INTEGER NOT NULL,
  registers INTEGER NOT NULL,
  static_shared INTEGER NOT NULL,
  dynamic_shared INTEGER NOT NULL
) STRICT)"},
    SchemaObject{"layer", R"(CREATE TABLE layer(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  in_features INTEGER NOT NULL,
  out_features INTEGER NOT NULL,
  precision TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT)"},
    SchemaObject{"op", R"(CREATE TABLE op(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  position INTEGER NOT NULL,
  layer INTEGER REFERENCES layer,
  name TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  fused TEXT NOT NULL,
  m INTEGER NOT NULL,
  n INTEGER NOT NULL,
  k INTEGER NOT NULL,
  a_type TEXT NOT NULL,
  b_type TEXT NOT NULL,
  d_type TEXT NOT NULL,
  recipe TEXT NOT NULL,
  epilogue TEXT NOT NULL,
  flops REAL NOT NULL,
  bytes INTEGER NOT NULL
) STRICT)"},
    SchemaObject{"step", R"(CREATE TABLE step(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  number INTEGER NOT NULL,
  start_ns INTEGER NOT NULL,
  dur_ns INTEGER NOT NULL,
  warmup INTEGER NOT NULL,
  loss REAL
) STRICT)"},
    SchemaObject{"tensor_stat", R"(CREATE TABLE tensor_stat(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  step INTEGER NOT NULL,
  layer INTEGER REFERENCES layer,
  tensor TEXT NOT NULL,
  format TEXT NOT NULL,
  amax REAL,
  scale REAL,
  count INTEGER NOT NULL,
  saturated INTEGER NOT NULL,
  underflowed INTEGER NOT NULL,
  zeros INTEGER NOT NULL,
  sqnr_db REAL
) STRICT)"},
    SchemaObject{"exponent_histogram", R"(CREATE TABLE exponent_histogram(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  step INTEGER NOT NULL,
  layer INTEGER REFERENCES layer,
  tensor TEXT NOT NULL,
  format TEXT NOT NULL,
  first_exponent INTEGER NOT NULL,
  counts TEXT NOT NULL
) STRICT)",
                 SchemaObject::Presence::Optional},
    SchemaObject{"step_value", R"(CREATE TABLE step_value(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  step INTEGER NOT NULL,
  name TEXT NOT NULL,
  value REAL
) STRICT)",
                 SchemaObject::Presence::Optional},
    SchemaObject{"tensor_error", R"(CREATE TABLE tensor_error(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  step INTEGER NOT NULL,
  layer INTEGER REFERENCES layer,
  tensor TEXT NOT NULL,
  relative_error REAL
) STRICT)",
                 SchemaObject::Presence::Optional},
    SchemaObject{"memory_class", R"(CREATE TABLE memory_class(
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run,
  name TEXT NOT NULL,
  bytes INTEGER NOT NULL
) STRICT)"},
    SchemaObject{"sample", R"(CREATE TABLE sample(
  id INTEGER PRIMARY KEY,
  track INTEGER NOT NULL REFERENCES track,
  time_ns INTEGER NOT NULL,
  value REAL
) STRICT)"},
    SchemaObject{"diagnostic", R"(CREATE TABLE diagnostic(
  id INTEGER PRIMARY KEY,
  run INTEGER REFERENCES run,
  name TEXT NOT NULL,
  severity TEXT NOT NULL,
  count INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT)"},
    SchemaObject{"slice_block", R"(CREATE TABLE slice_block(
  id INTEGER PRIMARY KEY,
  track INTEGER NOT NULL REFERENCES track,
  n INTEGER NOT NULL,
  first_ns INTEGER NOT NULL,
  last_ns INTEGER NOT NULL,
  columns INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT)"},
};

constexpr std::array kViews{
    SchemaObject{"steps", R"(CREATE VIEW steps AS
SELECT run.mode AS mode, run.origin AS origin, step.number AS number, step.start_ns / 1e6 AS start_ms,
  step.dur_ns / 1e6 AS dur_ms, step.warmup AS warmup, step.loss AS loss
FROM step JOIN run ON run.id = step.run)"},
    SchemaObject{"kernels", R"(CREATE VIEW kernels AS
SELECT run.mode AS mode, slice.name AS name, slice.role AS role, slice.family AS family,
  slice.precision AS precision, count(*) AS calls, sum(slice.dur_ns) / 1e6 AS total_ms,
  avg(slice.dur_ns) / 1e3 AS mean_us, min(slice.dur_ns) / 1e3 AS min_us, max(slice.dur_ns) / 1e3 AS max_us
FROM slice JOIN track ON track.id = slice.track JOIN run ON run.id = slice.run
WHERE track.kind = 'device_queue' GROUP BY slice.run, slice.name_id ORDER BY total_ms DESC)"},
    SchemaObject{"family_time", R"(CREATE VIEW family_time AS
SELECT run.mode AS mode, slice.family AS family, count(*) AS slices, sum(slice.dur_ns) / 1e6 AS busy_ms
FROM slice JOIN track ON track.id = slice.track JOIN run ON run.id = slice.run
WHERE track.kind = 'device_queue' GROUP BY slice.run, slice.family ORDER BY slice.run, busy_ms DESC)"},
};

}  // namespace

std::span<const SchemaObject> schemaTables() { return kTables; }
std::span<const SchemaObject> schemaViews() { return kViews; }

}  // namespace fp8scope

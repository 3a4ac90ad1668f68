// SPDX-License-Identifier: Apache-2.0
// The entry point of libfp8scope_slice.so: `.load libfp8scope_slice` in the sqlite3 shell makes a trace's slices
// readable there.
#include "collector/trace/slice_vtab.h"

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

extern "C" __attribute__((visibility("default"))) int sqlite3_fpscopeslice_init(sqlite3* db, char**,
                                                                                const sqlite3_api_routines* api)
{
    SQLITE_EXTENSION_INIT2(api)
    return fp8scope::createSliceModule(db);
}

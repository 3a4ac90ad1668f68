// SPDX-License-Identifier: Apache-2.0
// SQLite's C functions: linked into programs, but inside the loadable extension those of the shell that loads it (a
// shell may bring its own SQLite, whose handles no other copy may touch).
#pragma once

#ifdef FP8SCOPE_SQLITE_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

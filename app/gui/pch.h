// SPDX-License-Identifier: GPL-3.0-or-later
// Precompiled for the app's parts; no file may rely on it for its includes.
#pragma once

#include <QtWidgets>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

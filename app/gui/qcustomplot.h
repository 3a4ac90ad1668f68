// SPDX-License-Identifier: GPL-3.0-or-later
// The only place that includes QCustomPlot. Its header says `foreach`, which QT_NO_FOREACH takes from our code;
// range-for is the same there, since its two loops only read.
#pragma once

#include <QtGlobal>

#ifdef foreach
#include <qcustomplot.h>
#else
#define foreach(variable, container) for (variable : container)
#include <qcustomplot.h>
#undef foreach
#endif

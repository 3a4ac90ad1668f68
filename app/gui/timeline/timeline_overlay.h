// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the timeline's picture that are few and drawn with QPainter: ruler, labels, steps, counters, range,
// outlines.
#pragma once

#include "app/gui/timeline/timeline_scene.h"

class QPainter;

namespace fp8scope::gui {

void drawRuler(QPainter& painter, const TimelineScene& scene);
void drawLabels(QPainter& painter, const TimelineScene& scene);
/// Vertical lines at the ruler's ticks, below the slices.
void drawGrid(QPainter& painter, const TimelineScene& scene);
void drawSteps(QPainter& painter, const TimelineScene& scene, const Row& row);
void drawCounter(QPainter& painter, const TimelineScene& scene, const Row& row);
void drawRange(QPainter& painter, const TimelineScene& scene);
/// A frame around the selected slice and a thinner one around the one under the mouse.
void drawOutlines(QPainter& painter, const TimelineScene& scene);

}  // namespace fp8scope::gui

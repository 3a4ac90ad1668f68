// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/label_cache.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace fp8scope::gui {
namespace {

/// (below * (255 - alpha) + above * alpha) / 255 by channel, off by at most one.
QRgb blend(QRgb below, QRgb above, unsigned alpha)
{
    const auto channel = [alpha](int b, int a) {
        return (static_cast<unsigned>(b) * (255U - alpha) + static_cast<unsigned>(a) * alpha + 128U) >> 8U;
    };
    return 0xFF000000U | channel(qRed(below), qRed(above)) << 16U | channel(qGreen(below), qGreen(above)) << 8U |
           channel(qBlue(below), qBlue(above));
}

void blit(QImage& canvas, int x, int y, const QImage& mask, int width, QRgb color)
{
    const int left = std::max(x, 0);
    const int right = std::min({x + width, x + mask.width(), canvas.width()});
    for (int row = std::max(0, -y); row < mask.height() && y + row < canvas.height(); ++row) {
        const uchar* alpha = mask.constScanLine(row) - x;
        auto* pixels = reinterpret_cast<QRgb*>(canvas.scanLine(y + row));
        for (int i = left; i < right; ++i) {
            if (alpha[i] != 0)
                pixels[i] = blend(pixels[i], color, alpha[i]);
        }
    }
}

}  // namespace

void LabelCache::setFont(const QFont& font, double devicePixelRatio)
{
    if (font == m_font && devicePixelRatio == m_ratio)
        return;
    m_font = font;
    m_ratio = devicePixelRatio;
    m_labels.clear();
    m_dots = render(QStringLiteral("…"));
}

LabelCache::Label LabelCache::render(const QString& text) const
{
    const QFontMetricsF metrics(m_font);
    Label label;
    for (qsizetype i = 1; i <= text.size(); ++i)
        label.ends.push_back(
            static_cast<int>(std::ceil(metrics.horizontalAdvance(text, static_cast<int>(i)) * m_ratio)));
    const int width = label.ends.empty() ? 1 : label.ends.back() + 1;
    label.mask = QImage(width, static_cast<int>(std::ceil(metrics.height() * m_ratio)), QImage::Format_Alpha8);
    label.mask.setDevicePixelRatio(m_ratio);
    label.mask.fill(0);
    QPainter painter(&label.mask);
    painter.setFont(m_font);
    painter.setPen(Qt::white);
    painter.drawText(QPointF(0, metrics.ascent()), text);
    return label;
}

void LabelCache::draw(QImage& canvas, int x, int y, int width, int height, QRgb color, std::uint32_t key,
                      const QString& text)
{
    auto found = m_labels.find(key);
    if (found == m_labels.end()) {
        if (m_labels.size() >= kMostLabels)
            m_labels.clear();
        found = m_labels.emplace(key, render(text.left(kMostCharacters))).first;
    }
    const Label& label = found->second;
    if (label.ends.empty())
        return;
    const int top = y + (height - label.mask.height()) / 2;
    if (label.ends.back() <= width && text.size() <= kMostCharacters) {
        blit(canvas, x, top, label.mask, label.mask.width(), color);
        return;
    }
    const int room = width - m_dots.ends.back();
    const auto cut = std::upper_bound(label.ends.begin(), label.ends.end(), room);
    if (cut == label.ends.begin())
        return;
    blit(canvas, x, top, label.mask, *(cut - 1), color);
    blit(canvas, x + *(cut - 1), top, m_dots.mask, m_dots.mask.width(), color);
}

}  // namespace fp8scope::gui

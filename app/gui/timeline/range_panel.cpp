// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/range_panel.h"

#include "app/gui/text.h"
#include "app/gui/theme.h"
#include "app/gui/visible_runs.h"

#include <QHeaderView>
#include <QPainter>
#include <QPixmap>
#include <QTableView>
#include <QVBoxLayout>

#include <array>
#include <cmath>
#include <utility>

namespace fp8scope::gui {
namespace {

QPixmap swatch(Family family)
{
    QPixmap pixmap(10, 10);
    pixmap.fill(Qt::transparent);
    QPainter(&pixmap).fillRect(pixmap.rect(), currentTheme().familyBrush(family));
    return pixmap;
}

QString dash() { return QStringLiteral("–"); }

}  // namespace

void RangeModel::setFamilies(const FamilyTotals& totals, const std::optional<ExposedFamilies>& exposed)
{
    std::vector<Family> rows;
    for (int f = 0; f < kFamilyCount; ++f) {
        const auto i = static_cast<std::size_t>(f);
        if (totals.count[i] > 0 || (exposed && exposed->ns[i] > 0))
            rows.push_back(static_cast<Family>(f));
    }
    // Only a change of rows is a reset, so that the table does not flicker while the view moves.
    const bool sameRows = rows == m_rows;
    if (!sameRows)
        beginResetModel();
    m_rows = std::move(rows);
    m_totals = totals;
    m_exposed = exposed;
    if (!sameRows)
        endResetModel();
    else if (!m_rows.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int RangeModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int RangeModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QString RangeModel::text(Family family, int column) const
{
    const auto f = static_cast<std::size_t>(family);
    const bool idle = family == Family::Idle;
    switch (column) {
    case FamilyColumn: return familyText(family);
    case Count: return idle ? dash() : QString::number(m_totals.count[f]);
    case Busy: return idle ? dash() : timeText(std::llround(m_totals.busyNs[f]));
    case Exposed: return m_exposed ? timeText(m_exposed->ns[f]) : dash();
    case Share:
        if (!m_exposed || m_exposed->wallNs <= 0)
            return dash();
        return toQt(
            analysis::formatPercent(static_cast<double>(m_exposed->ns[f]) / static_cast<double>(m_exposed->wallNs)));
    case Mean:
        if (idle || m_totals.count[f] == 0)
            return dash();
        return timeText(std::llround(m_totals.busyNs[f] / static_cast<double>(m_totals.count[f])));
    default: return {};
    }
}

QVariant RangeModel::data(const QModelIndex& index, int role) const
{
    const Family which = family(index.row());
    switch (role) {
    case Qt::DisplayRole: return text(which, index.column());
    case Qt::DecorationRole: return index.column() == FamilyColumn ? QVariant(swatch(which)) : QVariant();
    case Qt::TextAlignmentRole:
        return QVariant(index.column() == FamilyColumn ? Qt::AlignVCenter | Qt::AlignLeft
                                                       : Qt::AlignVCenter | Qt::AlignRight);
    default: return {};
    }
}

QVariant RangeModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant(section == FamilyColumn ? Qt::AlignVCenter | Qt::AlignLeft : Qt::AlignVCenter | Qt::AlignRight);
    static constexpr std::array kTitles{QT_TR_NOOP("family"),  QT_TR_NOOP("count"), QT_TR_NOOP("busy"),
                                        QT_TR_NOOP("exposed"), QT_TR_NOOP("share"), QT_TR_NOOP("mean")};
    static constexpr std::array kTips{
        QT_TR_NOOP("What the work is for"),
        QT_TR_NOOP("Slices that touch the range"),
        QT_TR_NOOP("Sum of their durations inside the range"),
        QT_TR_NOOP("Time in which this family is what the device is doing: each instant counts once. "
                   "A dash: more than a million slices; narrow the range"),
        QT_TR_NOOP("Exposed time over the length of the range"),
        QT_TR_NOOP("Busy time over count")};
    if (role == Qt::DisplayRole)
        return tr(kTitles[static_cast<std::size_t>(section)]);
    if (role == Qt::ToolTipRole)
        return tr(kTips[static_cast<std::size_t>(section)]);
    return {};
}

RangePanel::RangePanel(Context* context, const TimelineIndex* index, QWidget* parent)
    : Panel(parent), m_context(context), m_index(index), m_table(new QTableView(this))
{
    m_table->setModel(&m_model);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setShowGrid(false);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    QFont small = font();
    small.setPixelSize(12);
    m_table->setFont(small);
    m_table->horizontalHeader()->setMinimumSectionSize(40);
    m_table->setAccessibleName(tr("Families in the range"));
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->verticalHeader()->setDefaultSectionSize(20);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_table->horizontalHeader()->setSectionResizeMode(RangeModel::FamilyColumn, QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setHighlightSections(false);
    body()->addWidget(m_table);
    connect(m_table, &QTableView::clicked, this, [this](const QModelIndex& cell) {
        if (const Family family = m_model.family(cell.row()); family != Family::Idle)
            m_context->setSelection(
                Selection{.run = {}, .slice = {}, .name = {}, .op = {}, .layer = {}, .family = family});
    });
    m_quiet.setSingleShot(true);
    m_quiet.setInterval(120);
    connect(&m_quiet, &QTimer::timeout, this, &RangePanel::requestExposed);
    connect(context, &Context::rangeChanged, this, &RangePanel::refresh);
    connect(context, &Context::runsChanged, this, &RangePanel::refresh);
    connect(index, &TimelineIndex::completed, this, &RangePanel::refresh);
    refresh();
}

void RangePanel::setVisibleSpan(TimeSpan span)
{
    m_visible = span;
    if (!m_context->range())
        refresh();
}

void RangePanel::refresh()
{
    m_shown = m_context->range().value_or(m_visible);
    setTitle(m_context->range() ? tr("In the range") : tr("In view"),
             m_context->loaded() ? timeText(m_shown.endNs - m_shown.startNs) : QString());
    m_runs = visibleRuns(*m_context);
    m_totals = {};
    if (m_context->loaded())
        m_totals = familyTotals(m_context->loaded()->trace, *m_index, m_runs, m_shown);
    m_model.setFamilies(m_totals, std::nullopt);
    ++m_generation;
    m_quiet.start();
}

void RangePanel::requestExposed()
{
    std::uint64_t slices = 0;
    for (const std::uint64_t count : m_totals.count)
        slices += count;
    if (!m_context->loaded() || slices > kMostExposedSlices)
        return;
    m_askAgain = m_working;
    if (m_working)
        return;
    m_working = true;
    m_worker =
        std::jthread([this, loaded = m_context->loaded(), runs = m_runs, range = m_shown, generation = m_generation] {
            const ExposedFamilies exposed = exposedFamilies(loaded->trace, runs, range);
            QMetaObject::invokeMethod(
                this, [=, this] { acceptExposed(generation, exposed); }, Qt::QueuedConnection);
        });
}

void RangePanel::acceptExposed(std::uint64_t generation, const ExposedFamilies& exposed)
{
    m_working = false;
    if (generation == m_generation)
        m_model.setFamilies(m_totals, exposed);
    else if (std::exchange(m_askAgain, false))
        requestExposed();
}

}  // namespace fp8scope::gui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/frame/search_box.h"

#include "app/gui/text.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

SearchBox::SearchBox(Context* context, QWidget* parent)
    : QLineEdit(parent), m_context(context), m_completer(new QCompleter(&m_entries, this))
{
    setPlaceholderText(tr("Search names, layers\u2026  /"));
    setAccessibleName(tr("Search names and layers"));
    setFixedWidth(230);
    setClearButtonEnabled(true);
    m_completer->setFilterMode(Qt::MatchContains);
    m_completer->setCaseSensitivity(Qt::CaseInsensitive);
    m_completer->setMaxVisibleItems(14);
    m_completer->popup()->setTextElideMode(Qt::ElideMiddle);
    setCompleter(m_completer);
    connect(m_completer, qOverload<const QString&>(&QCompleter::activated), this, &SearchBox::go);
    connect(context, &Context::loadedChanged, this, &SearchBox::refill);
    refill();
}

void SearchBox::refill()
{
    clear();
    m_doors.clear();
    QStringList entries;
    const auto& loaded = m_context->loaded();
    setEnabled(loaded != nullptr);
    if (loaded) {
        for (const analysis::Breakdown& run : loaded->overview.runs) {
            const QString mode = toQt(run.mode);
            for (const analysis::LayerTime& time : run.layers) {
                if (!time.layer.valid())
                    continue;
                entries.append(tr("%1  \u2013  layer, %2").arg(toQt(loaded->trace.layer(time.layer).name), mode));
                m_doors.push_back({{.run = run.run, .layer = time.layer}, {}});
            }
            for (const analysis::KernelTime& kernel : run.kernels) {
                entries.append(tr("%1  \u2013  %2, %3")
                                   .arg(toQt(loaded->trace.name(kernel.name).text), familyText(kernel.family), mode));
                m_doors.push_back(doorToKernel(run.run, kernel));
            }
        }
    }
    m_entries.setStringList(entries);
}

void SearchBox::go(const QString& entry)
{
    const auto index = static_cast<std::size_t>(m_entries.stringList().indexOf(entry));
    if (index >= m_doors.size())
        return;
    Door door = m_doors[index];
    if (!door.selection.slice.valid())
        door = doorToLayer(*m_context->loaded(), door.selection.run, door.selection.layer);
    open(*m_context, door);
}

bool SearchBox::event(QEvent* event)
{
    // Escape leaves the field here; the window's Escape would clear the selection.
    if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape)
        event->accept();
    return QLineEdit::event(event);
}

void SearchBox::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape) {
        clear();
        clearFocus();
        return;
    }
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (enter && !text().isEmpty()) {
        // Without a choice in the list, the first match is meant.
        m_completer->setCompletionPrefix(text());
        if (m_completer->completionCount() > 0)
            go(m_completer->currentCompletion());
        return;
    }
    QLineEdit::keyPressEvent(event);
}

}  // namespace fp8scope::gui

/** One row of a table in full, below the table. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

interface RowPanelProps {
  /** Label of the panel. */
  readonly label: string
  readonly title: string
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** Whether Escape belongs to the focused field; it clears search fields, for example. */
function isTyping({ target, isComposing }: KeyboardEvent): boolean {
  const field = target as HTMLInputElement
  return (
    isComposing || (field.matches('input:not([type="checkbox"]), textarea') && field.value !== '')
  )
}

/** Closed by its button or Escape, which return the focus to the row. Its key should be that of the row. */
export function RowPanel({ label, title, onClose, children }: RowPanelProps) {
  const panel = useRef<HTMLElement>(null)
  const [opener] = useState(() => document.activeElement as HTMLElement | null)
  const close = () => {
    onClose()
    opener?.focus()
  }
  const latest = useRef(close)
  latest.current = close
  useLayoutEffect(() => {
    // The panel may be far below the row that was opened by keyboard.
    if (opener?.matches(':focus-visible')) panel.current?.focus()
    // After a click the focus is outside of the panel.
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !isTyping(event)) latest.current()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  return html`<section class="card row-panel" aria-label=${label} tabindex="-1" ref=${panel}>
    <header>
      <h2>${title}</h2>
      <button type="button" class="quiet" onClick=${close}>close</button>
    </header>
    ${children}
  </section>`
}

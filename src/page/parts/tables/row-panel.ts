/** One row of a table whole, below it. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

interface RowPanelProps {
  /** What it shows. */
  readonly label: string
  readonly title: string
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

/** Closed by its button or Escape, which return the focus to the row. Its key should be that of the row. */
export function RowPanel({ label, title, onClose, children }: RowPanelProps) {
  const panel = useRef<HTMLElement>(null)
  const [opener] = useState(() => document.activeElement as HTMLElement | null)
  // Far below the row that a person at the keyboard has opened.
  useLayoutEffect(() => {
    if (opener?.matches(':focus-visible')) panel.current?.focus()
  }, [])
  const close = () => {
    onClose()
    opener?.focus()
  }
  const press = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') close()
  }
  return html`<section class="card row-panel" aria-label=${label} tabindex="-1" ref=${panel} onKeyDown=${press}>
    <header>
      <h2>${title}</h2>
      <button class="quiet" onClick=${close}>close</button>
    </header>
    ${children}
  </section>`
}

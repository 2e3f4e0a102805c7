/** A menu that unfolds below its button. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

interface MenuProps {
  /** Label of the button. */
  readonly words: string
  /** Made when the menu is opened. */
  readonly children?: ComponentChildren
}

/** Its first control gets the focus. Escape closes it and focuses its button; it also closes when the focus moves elsewhere. */
export function Menu({ words, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const body = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    body.current?.querySelector<HTMLElement>('input, select, a, button')?.focus()
  }, [isOpen])
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return
    // Escape should close only the menu.
    event.preventDefault()
    setOpen(false)
    const menu = event.currentTarget as HTMLElement
    menu.querySelector('summary')?.focus()
  }
  const leave = ({ currentTarget, relatedTarget }: FocusEvent) => {
    // No target: the focus moved to another window, or the focused button was disabled.
    if (relatedTarget === null) return
    if (!(currentTarget as HTMLElement).contains(relatedTarget as Node)) setOpen(false)
  }
  const toggle = (event: Event) => setOpen((event.target as HTMLDetailsElement).open)
  return html`<details class="menu" open=${isOpen} onToggle=${toggle} onKeyDown=${press} onFocusOut=${leave}>
    <summary>${words}</summary>
    ${isOpen && html`<div class="menu-body" ref=${body}>${children}</div>`}
  </details>`
}

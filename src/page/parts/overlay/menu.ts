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

/** Focuses the first control, which may be loaded later. @returns what ends the wait for it */
function focusFirst(body: HTMLElement): () => void {
  const observer = new MutationObserver(focus)
  observer.observe(body, { childList: true, subtree: true })
  focus()
  return () => observer.disconnect()

  function focus() {
    const control = body.querySelector<HTMLElement>('input, select, a, button')
    if (control === null) return
    observer.disconnect()
    control.focus()
  }
}

/** Its first control gets the focus. Escape closes it and focuses its button; it also closes when the focus moves elsewhere. */
export function Menu({ words, children }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const body = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (body.current === null) return
    return focusFirst(body.current)
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

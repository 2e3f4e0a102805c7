/** A folded part of a view, whose content is made when it is opened. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'

interface FoldedProps {
  readonly title: string
  readonly children: () => ComponentChildren
}

export function Folded({ title, children }: FoldedProps) {
  const [isOpen, setOpen] = useState(false)
  // Those inside of it toggle, too.
  const toggle = ({ target, currentTarget }: Event) => {
    if (target === currentTarget) setOpen((target as HTMLDetailsElement).open)
  }
  return html`<details class="part" onToggle=${toggle}>
    <summary><h2>${title}</h2></summary>
    ${isOpen && children()}
  </details>`
}

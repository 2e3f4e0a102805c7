/** A button and what unfolds below it, over the other content. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'

interface PopoverProps {
  /** Content of the button. */
  readonly label: ComponentChildren
  /** Name of the button and of what it opens. */
  readonly name: string
  readonly title?: string
  readonly className?: string
  /** Made when it opens. @param close - closes it and focuses the button */
  readonly children: (close: () => void) => ComponentChildren
}

/** Its first control gets the focus. The browser closes it with Escape or a press elsewhere, and places it beside the button. */
export function Popover({ label, name, title, className = '', children }: PopoverProps) {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const close = () => box.current?.hidePopover()
  const toggle = ({ newState }: ToggleEvent) => setOpen(newState === 'open')
  // Before it is shown, nothing in it can have the focus.
  const focusFirst = ({ newState }: ToggleEvent) => {
    if (newState === 'open') box.current?.querySelector<HTMLElement>('input, a, button')?.focus()
  }
  return html`<button type="button" class=${`popover-opener ${className}`} popovertarget=${id} aria-haspopup="dialog" aria-label=${title === undefined ? name : `${name}: ${title}`} title=${title}>${label}</button>
    <div ref=${box} id=${id} popover class="popover" role="dialog" aria-label=${name} onBeforeToggle=${toggle} onToggle=${focusFirst}>
      ${isOpen && children(close)}
    </div>`
}

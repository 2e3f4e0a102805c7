/** A modal dialog of the browser: Escape and a press beside it close it, and the focus returns to where it was. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly label: string
  /** Class: how it looks. */
  readonly kind: string
  readonly onClose: () => void
  readonly children?: ComponentChildren
}

export function Dialog({ label, kind, onClose, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = box.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  const press = ({ target, currentTarget }: Event) => {
    if (target === currentTarget) onClose()
  }
  return html`<dialog ref=${box} class=${kind} aria-label=${label} onClose=${onClose} onClick=${press}>${children}</dialog>`
}

/** A modal dialog of the browser: Escape and a press beside it close it, and the focus returns to where it was. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly label: string
  /** Class: how it looks. */
  readonly kind: string
  readonly onClose: () => void
  /** Called after the focus has returned, to move it elsewhere. */
  readonly onFocusBack?: () => void
  readonly children?: ComponentChildren
}

export function Dialog({ label, kind, onClose, onFocusBack, children }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  const isShown = useRef(false)
  useLayoutEffect(() => {
    const dialog = box.current
    dialog?.showModal()
    isShown.current = true
    return () => {
      isShown.current = false
      dialog?.close()
      onFocusBack?.()
    }
  }, [])
  // Otherwise the browser would close it, and report that only after the next key.
  const cancel = (event: Event) => {
    event.preventDefault()
    onClose()
  }
  // A second Escape without another key cannot be prevented. Its event arrives later: then the dialog may be gone, and
  // the address that of another view.
  const close = () => {
    if (isShown.current) onClose()
  }
  // The backdrop belongs to the dialog. A selection of text that ends there was begun elsewhere.
  const press = ({ target, currentTarget }: Event) => {
    if (target === currentTarget) onClose()
  }
  return html`<dialog ref=${box} class=${kind} aria-label=${label} onCancel=${cancel} onClose=${close} onMouseDown=${press}>${children}</dialog>`
}

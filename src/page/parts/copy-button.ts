/** Copies a text. */
import { html } from 'htm/preact'
import { useEffect, useState } from 'preact/hooks'
import { icon } from './icon.ts'

interface CopyButtonProps {
  /** Label of the button. */
  readonly words: string
  readonly text: string
  readonly isQuiet?: boolean
}

export function CopyButton({ words, text, isQuiet = false }: CopyButtonProps) {
  const [told, tell] = useState<string | null>(null)
  useEffect(() => tell(null), [text])
  const copy = () =>
    copyText(text).then(
      () => tell('copied'),
      () => tell('the browser does not let pages copy'),
    )
  return html`<button type="button" class=${isQuiet ? 'quiet' : ''} onClick=${copy}>${icon(told === 'copied' ? 'check' : 'copy')} ${told ?? words}</button>`
}

/** @throws when the browser does not let pages copy */
export async function copyText(text: string): Promise<void> {
  // Pages over plain HTTP have no access to the clipboard API.
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard !== undefined) return clipboard.writeText(text)
  const focused = document.activeElement as HTMLElement | null
  const field = document.body.appendChild(document.createElement('textarea'))
  field.value = text
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  focused?.focus()
  if (!isCopied) throw new Error('not copied')
}

/** The controls for rating a call: buttons, fields and single keys. */
import { html } from 'htm/preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { icon } from '../parts/icon.ts'
import type { Draft } from './draft.ts'

const THUMBS = [
  { emoji: '👍', name: 'thumbs-up', label: 'Good', key: '+' },
  { emoji: '👎', name: 'thumbs-down', label: 'Bad', key: '-' },
] as const

interface RatingPanelProps {
  readonly draft: Draft
  readonly isSending: boolean
  readonly onChange: (draft: Draft) => void
  readonly onSave: () => void
  readonly onSkip: () => void
}

export function RatingPanel(props: RatingPanelProps) {
  const { draft, isSending, onChange, onSave, onSkip } = props
  const note = useRef<HTMLTextAreaElement>(null)
  useKeys(props, () => note.current?.focus())
  const set = (part: keyof Draft) => (event: Event) =>
    onChange({ ...draft, [part]: (event.target as HTMLInputElement).value })
  const toggle = (emoji: string) =>
    onChange({ ...draft, emoji: draft.emoji === emoji ? '' : emoji })
  const submit = (event: Event) => {
    event.preventDefault()
    onSave()
  }
  return html`<form class="fields" aria-label="Rating" onSubmit=${submit}>
    <div class="bar">
      ${THUMBS.map(
        ({ emoji, name, label, key }) => html`<button
          key=${key}
          type="button"
          class="thumb"
          aria-pressed=${draft.emoji === emoji}
          aria-keyshortcuts=${key}
          onClick=${() => toggle(emoji)}
        >${icon(name)} ${label} <kbd>${key}</kbd></button>`,
      )}
    </div>
    <label>Name of the number<input value=${draft.name} onInput=${set('name')} /></label>
    <label><span>Number <kbd>0</kbd> to <kbd>9</kbd></span><input type="number" step="any" value=${draft.number} onInput=${set('number')} /></label>
    <label><span>Note <kbd>n</kbd>, and <kbd>Esc</kbd> to leave it</span><textarea ref=${note} rows="4" value=${draft.note} onInput=${set('note')}></textarea></label>
    <div class="bar">
      <button class="main" disabled=${isSending} aria-keyshortcuts="Enter">Save and next <kbd>Enter</kbd></button>
      <button type="button" disabled=${isSending} aria-keyshortcuts="s" onClick=${onSkip}>Skip <kbd>s</kbd></button>
    </div>
  </form>`
}

/** Single-key shortcuts work outside text fields. */
function useKeys(props: RatingPanelProps, focusNote: () => void): void {
  const last = useRef(props)
  last.current = props
  // Before the call is painted: fast raters press a key as soon as they see it.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      // A held key would also rate the next call, which has not been seen yet.
      if (event.repeat) return
      const target = event.target as HTMLElement
      const isTyping = target.matches('input, textarea, select')
      if (isTyping && event.key === 'Escape') target.blur()
      if (isTyping || !act(event.key, target, last.current, focusNote)) return
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}

/** @returns whether the key means something */
function act(
  key: string,
  target: HTMLElement,
  { draft, onChange, onSave, onSkip }: RatingPanelProps,
  focusNote: () => void,
): boolean {
  const thumb = THUMBS.find((one) => one.key === key)
  if (thumb !== undefined) {
    onChange({ ...draft, emoji: draft.emoji === thumb.emoji ? '' : thumb.emoji })
  } else if (/^\d$/.test(key)) onChange({ ...draft, number: key })
  else if (key === 'n') focusNote()
  else if (key === 's') onSkip()
  // Controls that handle Enter themselves keep it.
  else if (key === 'Enter' && !target.matches('a, summary, button:not(.thumb)')) onSave()
  else return false
  return true
}

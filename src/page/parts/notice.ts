/** A text shown instead of missing content. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import type { Loaded } from './hooks/use-load.ts'
import { icon } from './icon.ts'

export function Failure({ words }: { readonly words: string | null }) {
  return words === null
    ? null
    : html`<p class="notice failure" role="alert">${icon('circle-alert')} ${words}</p>`
}

/** Loading notice, shown after a moment, since most responses arrive earlier. */
export function Loading() {
  return html`<p class="notice waiting" role="status">Loading …</p>`
}

interface PendingProps {
  readonly title: ComponentChildren
  readonly loaded: Loaded<unknown>
}

/** A view whose content is not there: it is loading, or cannot be loaded. */
export function Pending({ title, loaded: { failure, isLoading } }: PendingProps) {
  return html`<h1>${title}</h1>
    <${Failure} words=${failure} />
    ${isLoading && html`<${Loading} />`}`
}

/** Chooses the time of the listed calls: any, the last hours or days, or between two times. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { PRESETS } from '../parts/charts/range.ts'
import { formatTime } from '../parts/format.ts'
import { Menu } from '../parts/menu.ts'
import { query, setQuery } from '../shell/location.ts'
import { timeMode } from '../shell/settings.ts'

export function TimeMenu() {
  return html`<${Menu} words=${rangeText()}><${Choices} /><//>`
}

function rangeText(): string {
  const [from, to, range] = ['from', 'to', 'range'].map((name) => query.value.get(name))
  const preset = PRESETS[range ?? '']
  if (from || to)
    return [from && `from ${formatTime(from, false)}`, to && `to ${formatTime(to, false)}`]
      .filter(Boolean)
      .join(' ')
  return preset === undefined ? 'Any time' : `Last ${preset.label}`
}

function choose(range: string | null): void {
  setQuery({ range, from: null, to: null }, { isStep: true })
}

function Choices() {
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const chosen = query.value.get('range')
  const hasBounds = query.value.has('from') || query.value.has('to')
  const submit = (event: Event) => {
    event.preventDefault()
    setQuery({ range: null, from: isoOf(from), to: isoOf(to) }, { isStep: true })
  }
  const typedIn = (event: InputEvent) => (event.target as HTMLInputElement).value
  const button = (name: string | null, words: string) => {
    const isChosen = !hasBounds && (chosen ?? null) === name
    return html`<button key=${words} type="button" aria-pressed=${isChosen} onClick=${() => choose(name)}>${words}</button>`
  }
  return html`<div class="times">
      ${button(null, 'Any time')}
      ${Object.entries(PRESETS).map(([name, { label }]) => button(name, `Last ${label}`))}
    </div>
    <form class="fields" onSubmit=${submit}>
      <label>From, ${timeMode.value === 'UTC' ? 'UTC' : 'local time'}<input type="datetime-local" step="1" value=${from} onInput=${(event: InputEvent) => setFrom(typedIn(event))} /></label>
      <label>To, or empty for now<input type="datetime-local" step="1" value=${to} onInput=${(event: InputEvent) => setTo(typedIn(event))} /></label>
      <button disabled=${from === '' && to === ''}>Show this time</button>
    </form>`
}

/** A time of a field, in the zone in which times are shown; null for an empty one. */
function isoOf(text: string): string | null {
  const time = new Date(timeMode.value === 'UTC' ? `${text}Z` : text)
  return text === '' || Number.isNaN(time.getTime()) ? null : time.toISOString()
}

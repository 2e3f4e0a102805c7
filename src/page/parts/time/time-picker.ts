/** Chooses the time range of a view, which its address holds: a preset that ends now, or a range of one's own. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { type TimeMode, timeMode } from '../../shell/settings.ts'
import { chooseTimeMode } from '../../shell/zone.ts'
import {
  chooseAllTime,
  choosePreset,
  chosenRange,
  PRESETS,
  readRange,
  selectRange,
} from '../charts/range.ts'
import { formatExactTime, formatTime } from '../format.ts'
import { icon } from '../icon.ts'
import { Popover } from '../overlay/popover.ts'

const DAY_MS = 86_400_000

interface TimePickerProps {
  readonly isLoading?: boolean
  /** Whether the view is refreshed as time passes. */
  readonly isLive?: boolean
  /** Whether an address without a range means all time; otherwise it means the last 24 hours. */
  readonly hasAllTime?: boolean
}

export function TimePicker({
  isLoading = false,
  isLive = false,
  hasAllTime = false,
}: TimePickerProps) {
  const range = hasAllTime ? chosenRange(Date.now()) : readRange(Date.now())
  const isOwn = range !== null && range.preset === null
  const words = isOwn
    ? `${formatExactTime(range.fromMs)} – ${formatExactTime(range.toMs)}`
    : 'Own range'
  return html`<div class="time-picker" role="group" aria-label="Time">
    <div class="segments">
      ${
        hasAllTime &&
        html`<button aria-pressed=${range === null} title="All time" onClick=${chooseAllTime}>all</button>`
      }
      ${Object.entries(PRESETS).map(
        ([name, { label }]) =>
          html`<button
            key=${name}
            aria-pressed=${range?.preset === name}
            title=${`the last ${label}`}
            onClick=${() => choosePreset(name)}
          >${name}</button>`,
      )}
    </div>
    <${Popover} name="Own range" title=${isOwn ? words : undefined} className=${isOwn ? 'is-chosen' : ''} label=${html`${icon('calendar')}<span class="own-range">${words}</span>`}>
      ${(close: () => void) => html`<${OwnRange} fromMs=${range?.fromMs ?? Date.now() - DAY_MS} toMs=${range?.toMs ?? Date.now()} onChoose=${close} />`}
    </${Popover}>
    <span class="faint time-status" role="status">${isLive && html`<span class="live-dot"></span>live`}${isLoading ? ' …' : ''}</span>
  </div>`
}

interface OwnRangeProps {
  readonly fromMs: number
  readonly toMs: number
  readonly onChoose: () => void
}

function OwnRange({ fromMs, toMs, onChoose }: OwnRangeProps) {
  const [from, setFrom] = useState(fieldOf(fromMs))
  const [to, setTo] = useState(fieldOf(toMs))
  const isOrdered = timeOf(from) < timeOf(to)
  const choose = (beginMs: number, endMs: number) => {
    selectRange(beginMs, endMs)
    onChoose()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    if (isOrdered) choose(timeOf(from), timeOf(to))
  }
  const changeZone = (mode: TimeMode) => {
    const [beginMs, endMs] = [timeOf(from), timeOf(to)]
    chooseTimeMode(mode)
    setFrom(fieldOf(beginMs))
    setTo(fieldOf(endMs))
  }
  const dayMs = startOfDay(Date.now())
  const field = (label: string, value: string, set: (text: string) => void) =>
    html`<label>${label}<input type="datetime-local" step="1" required value=${value} onInput=${(event: InputEvent) => set((event.target as HTMLInputElement).value)} /></label>`
  return html`<form class="fields own-range-form" onSubmit=${submit}>
    <div class="bar">
      <button type="button" onClick=${() => choose(dayMs, Date.now())}>Today</button>
      <button type="button" onClick=${() => choose(startOfDay(dayMs - DAY_MS / 2), dayMs)}>Yesterday</button>
    </div>
    ${field('From', from, setFrom)}
    ${field('To', to, setTo)}
    <fieldset class="zones"><legend>Zone</legend>
      ${(['local', 'UTC'] as const).map(
        (mode) =>
          html`<label class="check"><input type="radio" name="zone" checked=${timeMode.value === mode} onChange=${() => changeZone(mode)} />${mode === 'UTC' ? 'UTC' : `local (${Intl.DateTimeFormat().resolvedOptions().timeZone})`}</label>`,
      )}
    </fieldset>
    ${!isOrdered && html`<p class="bad" role="status">The end must be later than the begin.</p>`}
    <button class="main" disabled=${!isOrdered}>Show this range</button>
  </form>`
}

/** A time as a field has it, in the chosen zone. */
function fieldOf(timeMs: number): string {
  return formatTime(timeMs, false).replace(' ', 'T')
}

function startOfDay(timeMs: number): number {
  return timeOf(`${fieldOf(timeMs).slice(0, 10)}T00:00:00`)
}

/** NaN for a field that is not complete. */
function timeOf(field: string): number {
  return Date.parse(timeMode.value === 'UTC' ? `${field}Z` : field)
}

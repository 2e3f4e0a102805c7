/** Shows how long the project keeps its calls; administrators can change it. */
import { html } from 'htm/preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { errorText, requestJson } from '../api/client.ts'
import { serverNow } from '../api/clock.ts'
import { may } from '../api/session.ts'
import { formatCount, formatTime } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure } from '../parts/notice.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DAYS_MAX = 36_500
/** Limit: calls that are counted before they are removed. */
const COUNT_MAX = 100_000

interface Setting {
  readonly retention_days: number | null
}

/** Calls that a new setting would remove. */
interface Doomed {
  readonly days: number
  readonly beforeMs: number
  readonly count: number
  readonly has_more?: boolean
}

export function Retention({ project }: { readonly project: string }) {
  const [turn, setTurn] = useState(0)
  const [isOpen, setOpen] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const { value, failure } = useLoad(
    `retention ${project}`,
    (signal) =>
      requestJson<Setting>('/project/ttl_settings/read', { project_id: project }, { signal }),
    turn,
  )
  if (value === null) return html`<${Failure} words=${failure} />`
  const close = () => {
    setOpen(false)
    opener.current?.focus()
  }
  const onSet = () => {
    setTurn((last) => last + 1)
    close()
  }
  return html`<section class="retention" aria-label="Retention">
    <p class="faint">Calls are kept ${wordsFor(value.retention_days)}. ${
      may('admin') &&
      html`<button ref=${opener} class="link" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>Change</button>`
    }</p>
    ${isOpen && html`<${Change} project=${project} days=${value.retention_days} onSet=${onSet} onLeave=${close} />`}
  </section>`
}

function wordsFor(days: number | null): string {
  if (days === null) return 'until they are deleted'
  return days === 1 ? 'for a day' : `for ${formatCount(days)} days`
}

interface ChangeProps {
  readonly project: string
  readonly days: number | null
  readonly onSet: () => void
  readonly onLeave: () => void
}

/** Two clicks when calls would be deleted, since that cannot be undone. */
function Change({ project, days, onSet, onLeave }: ChangeProps) {
  const [text, setText] = useState(days === null ? '' : String(days))
  const [counted, setCounted] = useState<Doomed | null>(null)
  // A count may arrive after another number was typed.
  const doomed = String(counted?.days) === text ? counted : null
  const [failure, setFailure] = useState<string | null>(null)
  const wayOut = useRef<HTMLButtonElement>(null)
  // The focused button was removed, and a second Enter must delete nothing.
  useLayoutEffect(() => {
    if (doomed !== null) wayOut.current?.focus()
  }, [doomed])
  const tell = (error: unknown) => setFailure(errorText(error))
  const save = (retention_days: number | null) =>
    requestJson('/project/ttl_settings/update', { project_id: project, retention_days }).then(
      onSet,
      tell,
    )
  const submit = (event: Event) => {
    event.preventDefault()
    setFailure(null)
    return text === '' ? save(null) : countDoomed(project, Number(text)).then(setCounted, tell)
  }
  const change = (event: InputEvent) => {
    setText((event.target as HTMLInputElement).value)
    setCounted(null)
  }
  const leave = ({ key }: KeyboardEvent) => key === 'Escape' && onLeave()
  return html`<form class="card retention-form" onSubmit=${submit} onKeyDown=${leave}>
    <div class="bar">
      <label class="inline">Keep calls for
        <input class="retention-days" type="number" min="1" max=${DAYS_MAX} step="1" value=${text} onInput=${change} aria-describedby="for-ever" />
        days</label>
      ${doomed === null && html`<button class="main">Save</button>`}
      <button ref=${wayOut} type="button" onClick=${onLeave}>Cancel</button>
      <span id="for-ever" class="faint">Empty: until they are deleted.</span>
    </div>
    ${doomed !== null && html`<${Warning} ...${doomed} onSure=${() => save(doomed.days)} />`}
    <${Failure} words=${failure} />
  </form>`
}

function Warning({ days, beforeMs, count, has_more, onSure }: Doomed & { onSure: () => void }) {
  const many = `${has_more ? 'More than ' : ''}${formatCount(count)} ${count === 1 ? 'call' : 'calls'}`
  return html`<p role="status">
      ${
        count === 0
          ? `No call began before ${formatTime(beforeMs, false)}.`
          : html`<b class="bad">${many} that began before ${formatTime(beforeMs, false)} will be removed for good, within minutes.</b>`
      }${' '}
      From then on each call is removed ${days === 1 ? 'a day' : `${formatCount(days)} days`} after its start, with its part of the statistics. Feedback and objects stay.
    </p>
    <button type="button" class="danger" onClick=${onSure}>${count === 0 ? 'Save' : 'Remove calls'}</button>`
}

async function countDoomed(project_id: string, days: number): Promise<Doomed> {
  // Calls are removed by whole hours.
  const beforeMs = Math.floor((serverNow() - days * DAY_MS) / HOUR_MS) * HOUR_MS
  const before = { $literal: new Date(beforeMs).toISOString() }
  const counted = await requestJson<Pick<Doomed, 'count' | 'has_more'>>('/calls/query_stats', {
    project_id,
    limit: COUNT_MAX,
    query: { $expr: { $lt: [{ $getField: 'started_at' }, before] } },
  })
  return { days, beforeMs, ...counted }
}

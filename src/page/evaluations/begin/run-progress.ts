/** How far a run on the server is, and a button that cancels it. */
import { html } from 'htm/preact'
import { useEffect, useState } from 'preact/hooks'
import { may } from '../../api/session.ts'
import { formatCount } from '../../parts/format.ts'
import { useAction } from '../../parts/hooks/use-action.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { usePause } from '../../parts/hooks/use-pause.ts'
import { Failure } from '../../parts/notice.ts'
import { cancelRun, type RunStatus, readStatus } from './begin-evaluation.ts'

/** Pause between two polls. */
const POLL_MS = 1500

interface RunProgressProps {
  readonly project: string
  readonly id: string
  /** Called once when the run has ended. */
  readonly onEnd?: () => void
}

export function RunProgress({ project, id, onEnd }: RunProgressProps) {
  const [turn, setTurn] = useState(0)
  const poll = () => setTurn((last) => last + 1)
  const loaded = useLoad(`${project} ${id}`, (signal) => readStatus(project, id, signal), turn)
  const code = loaded.value?.code
  usePause(
    loaded.isLoading || (code !== 'running' && loaded.failure === null) ? null : POLL_MS,
    poll,
  )
  const isEnded = code === 'complete' || code === 'failed'
  useEffect(() => {
    if (isEnded) onEnd?.()
  }, [isEnded])
  const { act, done, failure } = useAction(poll)
  const cancel = () =>
    act(async () => ((await cancelRun(project, id)) ? 'Cancelled.' : 'It had ended already.'))
  if (loaded.value === null) return html`<${Failure} words=${loaded.failure} />`
  return html`<div class="bar run-progress">
    <${Progress} status=${loaded.value} />
    ${code === 'running' && may('traces:write') && html`<button type="button" onClick=${cancel}>Cancel</button>`}
    <span role="status">${done}</span>
    <${Failure} words=${failure ?? loaded.failure} />
  </div>`
}

function Progress({ status }: { readonly status: RunStatus }) {
  if (status.code === 'running') {
    const { completed_rows, total_rows } = status
    return html`<progress aria-label="Rows that are done" max=${Math.max(1, total_rows)} value=${completed_rows}></progress>
      <span>${formatCount(completed_rows)} of ${formatCount(total_rows)} ${total_rows === 1 ? 'row' : 'rows'}</span>`
  }
  if (status.code === 'complete') return html`<span class="good">complete</span>`
  if (status.code === 'failed') return html`<span class="bad">${status.error ?? 'failed'}</span>`
  return null
}

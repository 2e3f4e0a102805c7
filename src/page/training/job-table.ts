/** Training jobs as a table. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { formatCount, formatMs, formatTime } from '../parts/format.ts'
import { pathTo } from '../shell/page-route.ts'
import type { Job } from './training-api.ts'

/** Rows that are shown at first. */
const SHOWN = 20

const LOOKS: Readonly<Record<Job['status'], string>> = {
  queued: 'running',
  running: 'running',
  succeeded: 'success',
  failed: 'error',
  cancelled: 'faint',
}

export function JobStatus({ job }: { readonly job: Job }) {
  const progress = job.status === 'running' && job.progress !== null
  return html`<span class=${`status ${LOOKS[job.status]}`}>
    ${job.cancel_requested && job.status === 'running' ? 'stopping' : job.status}
    ${progress && ` ${Math.round(100 * (job.progress ?? 0))} %`}
  </span>`
}

/** Milliseconds that the last attempt took; null before its end. */
export function durationOf({ started_at, finished_at }: Job): number | null {
  if (started_at === null || finished_at === null) return null
  return Date.parse(finished_at) - Date.parse(started_at)
}

interface JobTableProps {
  readonly project: string
  readonly jobs: readonly Job[]
}

export function JobTable({ project, jobs }: JobTableProps) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? jobs : jobs.slice(0, SHOWN)
  if (jobs.length === 0) return html`<p class="faint">None yet.</p>`
  return html`<div class="scroll" tabindex="0">
      <table class="list" aria-label="Jobs">
        <thead><tr>
          <th scope="col">Created</th><th scope="col">State</th>
          <th scope="col" class="number">Step</th><th scope="col" class="number">Groups</th>
          <th scope="col" class="number">Trajectories</th><th scope="col" class="number">Duration</th>
          <th scope="col">Note</th>
        </tr></thead>
        <tbody>
          ${shown.map(
            (job) => html`<tr key=${job.id}>
              <td><a href=${pathTo(project, 'training', job.id)}>${formatTime(job.created_at, false)}</a></td>
              <td><${JobStatus} job=${job} /></td>
              <td class="number">${job.checkpoint?.step ?? ''}</td>
              <td class="number">${formatCount(job.group_count)}</td>
              <td class="number">${formatCount(job.trajectory_count)}</td>
              <td class="number">${formatMs(durationOf(job))}</td>
              <td class="faint">${noteOf(job)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${jobs.length > shown.length && html`<button onClick=${() => setWhole(true)}>${jobs.length - shown.length} more</button>`}`
}

const UNTRAINED: Readonly<Record<string, string>> = {
  no_choice: 'nothing to train on: no answers of a model',
  no_logprobs: 'nothing to train on: no log probabilities were recorded',
  no_variance: 'nothing to train on: equal rewards in each group',
}

/** Notes on a job besides its state. */
export function noteOf({ error, untrained_reason, attempt }: Job): string {
  if (error !== null) return `${error.code}: ${error.message}`
  if (untrained_reason !== null) return UNTRAINED[untrained_reason] ?? untrained_reason
  return attempt > 1 ? `attempt ${attempt}` : ''
}

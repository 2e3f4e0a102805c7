/** One training job: how far it is, its curves, what happened, its settings. */
import { html } from 'htm/preact'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { errorText } from '../api/client.ts'
import { may } from '../api/session.ts'
import { formatCount, formatMs, formatTime } from '../parts/format.ts'
import { type Loaded, useLoad } from '../parts/hooks/use-load.ts'
import { usePause } from '../parts/hooks/use-pause.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { JsonTree } from '../parts/values/json-tree.ts'
import { pathTo } from '../shell/page-route.ts'
import { useSubjectName } from '../shell/subject-name.ts'
import { playgroundOf } from './checkpoints.ts'
import { ComparisonPanel } from './compared/comparison-panel.ts'
import { Curves } from './curves.ts'
import { durationOf, JobStatus, noteOf } from './job-table.ts'
import {
  cancelJob,
  eventsPath,
  isOver,
  type Job,
  type JobEvent,
  type Model,
  readEvents,
  readJob,
  readModel,
} from './training-api.ts'

const PAUSE_MS = 1000

interface Seen {
  readonly job: Job
  readonly events: readonly JobEvent[]
  readonly model: Model | null
}

/** @param seen - the last result */
async function readAllOf(id: string, seen: Seen | null, signal: AbortSignal): Promise<Seen> {
  // Events are read after the job, so that a finished job has its last events.
  const job = await readJob(id, signal)
  const known = seen?.job.attempt === job.attempt ? seen.events : []
  const [events, model] = await Promise.all([
    readEvents(id, known, signal),
    // A model may have been deleted since.
    readModel(job.model_id, signal).catch(() => null),
  ])
  return { job, events, model }
}

interface JobViewProps {
  readonly project: string
  readonly id: string
}

export function JobView({ project, id }: JobViewProps) {
  const [turn, setTurn] = useState(0)
  const loaded: Loaded<Seen> = useLoad(id, (signal) => readAllOf(id, loaded.value, signal), turn)
  const isLive = loaded.value !== null && !isOver(loaded.value.job)
  usePause(isLive && !loaded.isLoading ? PAUSE_MS : null, () => setTurn((last) => last + 1))
  useSubjectName(
    id,
    loaded.isLoading,
    loaded.value ? `Job of ${loaded.value.model?.name ?? 'a deleted model'}` : undefined,
  )
  if (loaded.value === null) return html`<${Pending} title="Training job" loaded=${loaded} />`
  const { job, events, model } = loaded.value
  const steps = events.filter(({ type }) => type === 'gradient_step')
  return html`<div class="bar">
      <h1>Training job</h1>
      <${JobStatus} job=${job} />
      ${isLive && html`<span class="faint" role="status">live</span>`}
      <span class="push"></span>
      <a href=${`${pathTo(project, 'training')}?model=${encodeURIComponent(job.model_id)}`}>all of ${model?.name ?? 'the model'}</a>
      ${isLive && html`<${Cancel} job=${job} onDone=${() => setTurn((last) => last + 1)} />`}
    </div>
    <${Failure} words=${loaded.failure} />
    <${Failure} words=${job.status === 'failed' ? noteOf(job) : null} />
    <${Facts} project=${project} job=${job} model=${model} />
    ${
      job.source !== null &&
      job.checkpoint !== null &&
      model !== null &&
      may('inference') &&
      html`<h2>Did it get better?</h2>
        <${ComparisonPanel} project=${project} source=${job.source} model=${model.name} step=${job.checkpoint.step} />`
    }
    <${Curves}
      points=${steps.map(({ data }, at) => ({ step: at + 1, metrics: data }))}
      unit="gradient step"
      source=${`${eventsPath(job.id)}?limit=100`}
    />
    <h2>Events</h2>
    <${Events} events=${events} />
    <h2>Settings</h2>
    ${job.resolved_config === null ? html`<p class="faint">Shown when the job starts.</p>` : html`<${JsonTree} value=${job.resolved_config} depth=${1} />`}`
}

function Cancel({ job, onDone }: { readonly job: Job; readonly onDone: () => void }) {
  const [failure, setFailure] = useState<string | null>(null)
  const cancel = () =>
    cancelJob(job.id).then(onDone, (error: unknown) => setFailure(errorText(error)))
  return html`<button disabled=${job.cancel_requested} onClick=${cancel}>Cancel the job</button>
    <${Failure} words=${failure} />`
}

interface FactsProps {
  readonly project: string
  readonly job: Job
  readonly model: Model | null
}

function Facts({ project, job, model }: FactsProps) {
  const { checkpoint, worker, policy_lag } = job
  const name = `${model?.name}:step${checkpoint?.step}`
  const isControl = typeof job.source?.shuffle_seed === 'number'
  const canTry = model !== null && checkpoint !== null && may('inference')
  const facts: [string, ComponentChildren][] = [
    ['Model', model?.name ?? job.model_id],
    ['Checkpoint', checkpoint && `step ${checkpoint.step}`],
    ['Created', formatTime(job.created_at, false)],
    ['Duration', formatMs(durationOf(job))],
    ['Groups', formatCount(job.group_count)],
    [
      'Trajectories',
      `${formatCount(job.trainable_count)} of ${formatCount(job.trajectory_count)} can train`,
    ],
    ['Rewards', isControl && 'shuffled: this is the control'],
    ['Policy lag', policy_lag],
    ['Attempt', job.attempt > 0 && `${job.attempt} of ${job.max_attempts}`],
    ['Worker', worker && `${worker.id} ${worker.version}`],
    ['Note', job.status === 'failed' ? '' : noteOf(job)],
    ['Try', canTry && html`<a href=${playgroundOf(project, name)}>try this step</a>`],
    ['Id', job.id],
  ]
  return html`<dl class="facts">
    ${facts
      .filter(([, value]) => value || value === 0)
      .map(([label, value]) => html`<div key=${label}><dt>${label}</dt><dd>${value}</dd></div>`)}
  </dl>`
}

function Events({ events }: { readonly events: readonly JobEvent[] }) {
  if (events.length === 0) return html`<p class="faint">None yet.</p>`
  return html`<div class="scroll" tabindex="0"><table class="list" aria-label="Events">
    <thead><tr><th scope="col" class="number">No.</th><th scope="col">Event</th><th scope="col">Data</th></tr></thead>
    <tbody>
      ${events.map(
        ({ id, type, data }, at) => html`<tr key=${id}>
          <td class="number">${at + 1}</td>
          <td>${type}</td>
          <td class="faint wrap">${wordsFor(data)}</td>
        </tr>`,
      )}
    </tbody>
  </table></div>`
}

function wordsFor(data: Readonly<Record<string, unknown>>): string {
  return Object.entries(data)
    .map(
      ([name, value]) =>
        `${name} ${typeof value === 'number' ? +value.toPrecision(4) : String(value)}`,
    )
    .join(' · ')
}

/** The models that are trained in a project: curves over their steps, checkpoints, jobs. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { type Loaded, useLoad } from '../parts/hooks/use-load.ts'
import { usePause } from '../parts/hooks/use-pause.ts'
import { Failure, Pending } from '../parts/notice.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import { Checkpoints } from './checkpoints.ts'
import { Curves } from './curves.ts'
import { JobTable } from './job-table.ts'
import {
  type Checkpoint,
  checkpointsPath,
  isOver,
  type Job,
  type Model,
  readCheckpoints,
  readJobs,
  readModels,
} from './training-api.ts'

/** Milliseconds between polls, while jobs run and while none does. */
const BUSY_PAUSE_MS = 1500
const IDLE_PAUSE_MS = 10_000

interface Seen {
  readonly models: readonly Model[]
  readonly model: Model | null
  /** Jobs of the model, the newest first. */
  readonly jobs: readonly Job[]
  /** Checkpoints of the model, the last step first. */
  readonly checkpoints: readonly Checkpoint[]
}

/**
 * @param seen - the last result; of long lists only the parts that may have changed are read again
 * @param turn - how often the lists were read
 */
async function readTraining(
  project: string,
  wanted: string | null,
  seen: Seen | null,
  turn: number,
  signal: AbortSignal,
): Promise<Seen> {
  const models = await readModels(project, seen?.models ?? [], signal)
  const model = models.find(({ id }) => id === wanted) ?? models[0] ?? null
  if (model === null) return { models, model, jobs: [], checkpoints: [] }
  const last = seen?.model?.id === model.id ? seen : null
  const [jobs, checkpoints] = await Promise.all([
    readJobs(project, model.id, last?.jobs ?? [], turn, signal),
    readCheckpoints(model.id, last?.checkpoints ?? [], signal),
  ])
  return { models, model, jobs, checkpoints }
}

export function Overview({ project }: { readonly project: string }) {
  const wanted = query.value.get('model')
  const [turn, setTurn] = useState(0)
  const loaded: Loaded<Seen> = useLoad(
    `${project} ${wanted}`,
    (signal) => readTraining(project, wanted, loaded.value, turn, signal),
    turn,
  )
  const isBusy = loaded.value?.jobs.some((job) => !isOver(job)) ?? false
  const pause = isBusy ? BUSY_PAUSE_MS : IDLE_PAUSE_MS
  usePause(loaded.isLoading ? null : pause, () => setTurn((last) => last + 1))
  if (loaded.value === null) return html`<${Pending} title="Training" loaded=${loaded} />`
  const { models, model, jobs, checkpoints } = loaded.value
  return html`<div class="bar">
      <h1>Training</h1>
      ${model !== null && html`<${ModelChoice} models=${models} model=${model} />`}
      <span class="push"></span>
      <a class="button" href=${pathTo(project, 'training', 'served')}>Served names</a>
      <a class="button" href=${pathTo(project, 'training', 'new')}>New job from calls</a>
    </div>
    <${Failure} words=${loaded.failure} />
    ${wanted !== null && model?.id !== wanted && !loaded.isOther && html`<p class="notice">The model that the address names is not in this project; it may have been deleted.</p>`}
    ${
      model === null
        ? html`<${FirstJob} project=${project} />`
        : html`<${Curves} points=${checkpoints.toReversed().map(({ step, metrics }) => ({ step, metrics }))} unit="step" source=${`${checkpointsPath(model.id)}?limit=100`} />
          <${Checkpoints} project=${project} model=${model} checkpoints=${checkpoints} />
          <h2>Jobs</h2>
          <${JobTable} project=${project} jobs=${jobs} />`
    }`
}

interface ModelChoiceProps {
  readonly models: readonly Model[]
  readonly model: Model
}

function ModelChoice({ models, model }: ModelChoiceProps) {
  const change = (event: Event) =>
    setQuery({ model: (event.target as HTMLSelectElement).value }, { isStep: true })
  return html`<label class="inline">Model
      <select value=${model.id} onChange=${change}>
        ${models.map(({ id, name }) => html`<option key=${id} value=${id}>${name}</option>`)}
      </select>
    </label>
    <span class="faint">from ${model.base_model}</span>`
}

function FirstJob({ project }: { readonly project: string }) {
  return html`<section class="first">
    <p>
      No model is trained in <b>${project}</b> yet. A training job takes recorded chats and how good they were: choose
      calls that have feedback, and say which number of it is the reward.
    </p>
    <p>
      Chats train when they were recorded with their tokens: ask with <code>logprobs</code> and${' '}
      <code>return_token_ids</code>, as <code>npm run demo:training</code> does.
    </p>
    <p><a href=${pathTo(project, 'training', 'new')}>Create a job from calls</a></p>
  </section>`
}

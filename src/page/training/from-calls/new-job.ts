/** Creates a training job from calls and their feedback, after a preview. */
import { html } from 'htm/preact'
import { useRef, useState } from 'preact/hooks'
import { errorText, requestJson } from '../../api/client.ts'
import { serverNow } from '../../api/clock.ts'
import { may } from '../../api/session.ts'
import { callsQueryOf, queryName } from '../../calls/filters.ts'
import { SearchBox } from '../../calls/search/search-box.ts'
import { type Loaded, useLoad } from '../../parts/hooks/use-load.ts'
import { Failure, Loading, Pending } from '../../parts/notice.ts'
import { randomId } from '../../parts/random-id.ts'
import { go, query, setQuery } from '../../shell/location.ts'
import { pathTo } from '../../shell/page-route.ts'
import {
  controlOf,
  JOBS_FROM_CALLS,
  type Model,
  makeModel,
  readModel,
  readModels,
} from '../training-api.ts'
import { EMPTY_CHOICES, type JobChoices, JobForm } from './job-form.ts'
import { JobPreview, type Preview } from './job-preview.ts'
import { printRewardChoices, readRewardChoices, toRewards } from './reward-choices.ts'
import { type RewardSource, readRewardSources, withNamed } from './reward-sources.ts'

async function readOffers(project: string, signal: AbortSignal) {
  const [found, models] = await Promise.all([
    readRewardSources(project, signal),
    readModels(project, [], signal),
  ])
  return { sources: await rewardingFirst(project, found, signal), models }
}

/** Limit: sources that are requested before the form opens. */
const TRIED_MAX = 5
/** Milliseconds without a change until the preview is requested. */
const TYPING_MS = 300

/** Moves the first source that rewards rollouts to the front; most feedback may be about calls that are no chats. */
async function rewardingFirst(
  project: string,
  sources: readonly RewardSource[],
  signal: AbortSignal,
): Promise<readonly RewardSource[]> {
  const untilMs = serverNow()
  for (const source of sources.slice(0, TRIED_MAX)) {
    const choices = { ...EMPTY_CHOICES, heldOut: '0', base: '' }
    const sought = sourceOf({ project, untilMs, sources: [source], models: [], choices })
    const { stats } = await readPreview(sought, signal)
    if (stats.trajectories === 0) continue
    return [source, ...sources.filter((other) => other !== source)]
  }
  return sources
}

export function NewJob({ project }: { readonly project: string }) {
  if (!may('traces:read')) {
    return html`<h1>New training job</h1><${Failure} words="The key may not read calls: it lacks the scope traces:read." />`
  }
  return html`<${Offered} project=${project} />`
}

function Offered({ project }: { readonly project: string }) {
  const offers = useLoad(project, (signal) => readOffers(project, signal))
  if (offers.value === null) return html`<${Pending} title="New training job" loaded=${offers} />`
  return html`<h1>New training job</h1>
    <${Composer} project=${project} ...${offers.value} />`
}

interface ComposerProps {
  readonly project: string
  readonly sources: readonly RewardSource[]
  readonly models: readonly Model[]
}

function Composer({ project, sources: found, models }: ComposerProps) {
  const [chosen, setChoices] = useState<JobChoices>({
    ...EMPTY_CHOICES,
    modelId: models[0]?.id ?? '',
  })
  // In the address, with the filter of the calls: what a link should carry.
  const choices = { ...chosen, rewards: readRewardChoices(query.value.get('reward')) }
  const sources = withNamed(found, choices.rewards)
  const change = (next: JobChoices) => {
    setChoices(next)
    setQuery({ reward: printRewardChoices(next.rewards) })
  }
  const [untilMs] = useState(serverNow)
  const { rewards, problem } = toRewards(choices.rewards, sources)
  const source = sourceOf({ project, untilMs, sources, models, choices })
  const preview = useLoad(JSON.stringify([queryName.value, source, problem]), async (signal) => {
    // Not at each letter that is typed.
    await new Promise((resolve) => setTimeout(resolve, TYPING_MS))
    return rewards.length === 0 || signal.aborted ? null : readPreview(source, signal)
  })
  return html`<section>
      <h2>1. Calls</h2>
      <${SearchBox} project=${project} />
    </section>
    <${JobForm} sources=${sources} models=${models} choices=${choices} onChange=${change} />
    <section>
      <h2>5. Preview</h2>
      <${Failure} words=${problem ?? preview.failure} />
      ${preview.isLoading && html`<${Loading} />`}
      ${!preview.isLoading && preview.value && html`<${JobPreview} preview=${preview.value} />`}
      ${found.length === 0 && html`<p>The project has no feedback with a number or a thumb yet: rate some calls first.</p>`}
    </section>
    <${Start} project=${project} choices=${choices} source=${source} preview=${preview} />`
}

interface Sought extends ComposerProps {
  readonly untilMs: number
  readonly choices: JobChoices
}

/** Which calls become rollouts, as requests for jobs and for comparisons have it. */
function sourceOf({ project, untilMs, sources, models, choices }: Sought) {
  const { rollout_by, group_by, limit, heldOut, split_seed, takenModels, modelId } = choices
  const model = models.find(({ id }) => id === modelId)
  const ofModel = model ? [model.name, model.base_model] : [choices.name, choices.base]
  const taken = takenModels.trim() === '' ? ofModel : takenModels.split(',')
  const named = taken.map((name) => name.trim()).filter((name) => name !== '')
  return {
    ...callsQueryOf(project, untilMs),
    rollout_by,
    group_by,
    limit: Number(limit),
    reward: toRewards(choices.rewards, sources).rewards,
    held_out: Number(heldOut) / 100,
    split_seed: Number(split_seed),
    ...(named.length === 0 ? {} : { models: named }),
  }
}

type Source = ReturnType<typeof sourceOf>

function readPreview(source: Source, signal: AbortSignal): Promise<Preview> {
  return requestJson(JOBS_FROM_CALLS, source, { signal })
}

interface StartProps {
  readonly project: string
  readonly choices: JobChoices
  readonly source: Source
  readonly preview: Loaded<Preview | null>
}

function Start({ project, choices, source, preview }: StartProps) {
  const [failure, setFailure] = useState<string | null>(null)
  const [isSending, setSending] = useState(false)
  const last = useRef(new Map<string, string>())
  const shown = preview.isLoading || preview.failure !== null ? null : preview.value
  const canStart = shown !== null && shown.stats.trajectories > 0 && !isSending
  /** All tries of the same job share one key, so that a second click or a lost response creates no second job. */
  const send = async (model: Model, fields: object) => {
    const job = {
      ...source,
      model_id: model.id,
      experimental_config: configOf(choices),
      ...fields,
      start: true,
    }
    const text = JSON.stringify(job)
    const once = last.current.get(text) ?? randomId()
    last.current.set(text, once)
    const headers = { 'idempotency-key': once }
    const { job: queued } = await requestJson<Preview>(JOBS_FROM_CALLS, job, { headers })
    return queued
  }
  const start = async () => {
    setSending(true)
    setFailure(null)
    try {
      const { modelId, name, base, hasControl } = choices
      const model = await (modelId === ''
        ? makeModel(project, name, base)
        : readModel(modelId, new AbortController().signal))
      const job = await send(model, {})
      if (hasControl) {
        const control = await makeModel(project, controlOf(model.name), model.base_model)
        await send(control, { shuffle_seed: 1 })
      }
      go(pathTo(project, 'training', job?.id ?? null))
    } catch (error) {
      setFailure(errorText(error))
      setSending(false)
    }
  }
  return html`<div class="bar">
      <button class="main" disabled=${!canStart} onClick=${start}>Start the job</button>
      ${isSending && html`<span class="faint" role="status">sending …</span>`}
    </div>
    <${Failure} words=${failure} />`
}

function configOf({ learning_rate, ppo, scale_rewards }: JobChoices): object {
  return {
    ...(learning_rate === '' ? {} : { learning_rate: Number(learning_rate) }),
    ppo,
    scale_rewards,
  }
}

/** Creates a training job from calls and their feedback, after a preview. */
import { html } from 'htm/preact'
import { useRef, useState } from 'preact/hooks'
import { errorText, requestJson } from '../api/client.ts'
import { serverNow } from '../api/clock.ts'
import { may } from '../api/session.ts'
import { callsQueryOf, queryName } from '../calls/filters.ts'
import { SearchBox } from '../calls/search/search-box.ts'
import { type Loaded, useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading, Pending } from '../parts/notice.ts'
import { randomId } from '../parts/random-id.ts'
import { go, query, setQuery } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'
import { GroupPreview, type GroupsResponse } from './group-preview.ts'
import { chosenSource, EMPTY_CHOICES, type JobChoices, JobForm } from './job-form.ts'
import { type RewardSource, readRewardSources } from './reward-sources.ts'
import { type Model, makeJob, makeModel, readModels } from './training-api.ts'

async function readOffers(project: string, signal: AbortSignal) {
  const [found, models] = await Promise.all([
    readRewardSources(project, signal),
    readModels(project, [], signal),
  ])
  return { sources: await fruitfulFirst(project, found, signal), models }
}

/** Limit: sources that are tried before the form opens, for its time. */
const TRIED_MAX = 5

/** The first of the sources that rewards rollouts comes first; most feedback may be about calls that are no chats. */
async function fruitfulFirst(
  project: string,
  sources: readonly RewardSource[],
  signal: AbortSignal,
): Promise<readonly RewardSource[]> {
  const untilMs = serverNow()
  for (const source of sources.slice(0, TRIED_MAX)) {
    const question = { project, untilMs, source, choices: EMPTY_CHOICES }
    const groups = await readGroups(question, signal)
    if (groups === null || groups.trajectory_groups.length === 0) continue
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

function Composer({ project, sources, models }: ComposerProps) {
  const [chosen, setChoices] = useState<JobChoices>({
    ...EMPTY_CHOICES,
    modelId: models[0]?.id ?? '',
  })
  // In the address, with the filter of the calls: what a link should carry.
  const choices = { ...chosen, source: query.value.get('reward') ?? '' }
  const change = (next: JobChoices) => {
    setChoices(next)
    setQuery({ reward: next.source })
  }
  const [untilMs] = useState(serverNow)
  const source = chosenSource(sources, choices)
  const name = JSON.stringify([
    queryName.value,
    source?.name,
    choices.rollout_by,
    choices.group_by,
    choices.combine,
    choices.limit,
  ])
  const groups = useLoad(name, (signal) =>
    readGroups({ project, untilMs, source, choices }, signal),
  )
  return html`<section>
      <h2>1. Calls</h2>
      <${SearchBox} />
    </section>
    <${JobForm} sources=${sources} models=${models} choices=${choices} onChange=${change} />
    <section>
      <h2>4. Preview</h2>
      <${Failure} words=${groups.failure} />
      ${groups.isLoading && html`<${Loading} />`}
      ${!groups.isLoading && groups.value && html`<${GroupPreview} answer=${groups.value} />`}
      ${source === null && html`<p>The project has no feedback with a number or a thumb yet: rate some calls first.</p>`}
    </section>
    <${Start} project=${project} choices=${choices} groups=${groups} />`
}

interface GroupsQuestion {
  readonly project: string
  readonly untilMs: number
  readonly source: RewardSource | null
  readonly choices: JobChoices
}

async function readGroups(
  { project, untilMs, source, choices }: GroupsQuestion,
  signal: AbortSignal,
): Promise<GroupsResponse | null> {
  if (source === null) return null
  const { feedback_type, reward } = source
  const { rollout_by, group_by, combine, limit } = choices
  const question = {
    ...callsQueryOf(project, untilMs),
    rollout_by,
    group_by,
    limit: Number(limit),
    reward: { feedback_type, combine, ...reward },
  }
  return requestJson('/v1/preview/trajectory-groups/from-calls', question, { signal })
}

interface StartProps {
  readonly project: string
  readonly choices: JobChoices
  readonly groups: Loaded<GroupsResponse | null>
}

function Start({ project, choices, groups }: StartProps) {
  const [failure, setFailure] = useState<string | null>(null)
  const [isSending, setSending] = useState(false)
  const last = useRef<Sent | null>(null)
  const answer = groups.isLoading || groups.failure !== null ? null : groups.value
  const canStart = answer !== null && answer.trajectory_groups.length > 0 && !isSending
  const start = async () => {
    setSending(true)
    setFailure(null)
    try {
      const model_id = choices.modelId || (await makeModel(project, choices.name, choices.base)).id
      const job = {
        model_id,
        trajectory_groups: answer?.trajectory_groups,
        experimental_config: configOf(choices),
      }
      last.current = nameSent(job, last.current)
      const { id } = await makeJob(job, last.current.once)
      go(pathTo(project, 'training', id))
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

/** A submitted job, and the idempotency key for repeats. */
interface Sent {
  readonly text: string
  readonly once: string
}

/** All tries of the same job share one key, so that a second click or a lost answer creates no second job. */
function nameSent(job: object, last: Sent | null): Sent {
  const text = JSON.stringify(job)
  return last?.text === text ? last : { text, once: randomId() }
}

function configOf({ learning_rate, ppo, scale_rewards }: JobChoices): object {
  return {
    ...(learning_rate === '' ? {} : { learning_rate: Number(learning_rate) }),
    ppo,
    scale_rewards,
  }
}

/** The evaluations that ran a version of a prompt: runs of the models that name it, and how to compare them with an older one. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { requestExact } from '../api/client.ts'
import { membersOf } from '../api/wire.ts'
import { runColumns, sortRuns } from '../evaluations/run-columns.ts'
import { textOfIds } from '../evaluations/run-ids.ts'
import { RUNS_MAX, type Run, readRuns } from '../evaluations/runs.ts'
import { namesOf } from '../evaluations/scores.ts'
import { type ObjectVersion, refOf } from '../objects/kinds.ts'
import { formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure } from '../parts/notice.ts'
import { Grid } from '../parts/tables/grid.ts'
import { parseRef } from '../parts/values/refs.ts'
import { query } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'

/** Limit: versions of models that are searched, the newest, and refs of one filter. */
const MODELS_MAX = 1000

/** A model that requests made from a version of the prompt are sent to. */
interface Candidate {
  /** Digest of the version. */
  readonly digest: string
  readonly llm: unknown
}

interface Known {
  /** Of the version. */
  readonly runs: readonly Run[]
  readonly count: number
  /** Of all other versions. */
  readonly others: readonly Run[]
  /** By the ref of the object that names prompt and model. */
  readonly candidates: ReadonlyMap<unknown, Candidate>
}

const NONE: Known = { runs: [], count: 0, others: [], candidates: new Map() }

interface PromptRunsProps {
  readonly object: ObjectVersion
  /** All versions of the prompt; empty while they are unknown. */
  readonly versions: readonly ObjectVersion[]
}

export function PromptRuns({ object, versions }: PromptRunsProps) {
  const { project_id, object_id, digest } = object
  const loaded = useLoad(refOf(object), (signal) => readKnown(object, signal))
  const { runs, count } = loaded.value ?? NONE
  const pair = findPair(object, versions, loaded.value ?? NONE)
  const order = query.value.get('sort') ?? ''
  const shown = useMemo(() => sortRuns(runs, order), [runs, order])
  const scores = useMemo(() => namesOf(runs.map((run) => run.scores)), [runs])
  const columns = runColumns(
    { project: project_id, scores, order },
    () => false,
    () => undefined,
  )
  const begin = new URLSearchParams({ prompt: `${object_id}:${digest}` })
  return html`<section class="part" aria-label="Evaluations of it">
    <h2>Evaluations of this version</h2>
    <${Failure} words=${loaded.failure} />
    ${loaded.value !== null && count === 0 && html`<p class="faint">None.</p>`}
    ${count > RUNS_MAX && html`<p class="notice">These are the newest ${formatCount(RUNS_MAX)} of ${formatCount(count)}.</p>`}
    ${
      count > 0 &&
      html`<${Grid}
      label="Evaluations of it"
      columns=${columns.filter(({ name }) => name !== 'choose')}
      count=${shown.length}
      at=${(index: number): Run | undefined => shown[index]}
      rowsMax=${8}
    />`
    }
    <div class="bar">
      ${pair !== null && html`<a class="button main" href=${`${pathTo(project_id, 'evaluations', 'compare')}?${new URLSearchParams({ runs: textOfIds(pair.ids) })}`}>Compare with v${pair.version}</a>`}
      <a class="button" href=${`${pathTo(project_id, 'evaluations', 'new')}?${begin}`}>Run an evaluation of it</a>
    </div>
  </section>`
}

async function readKnown(object: ObjectVersion, signal: AbortSignal): Promise<Known> {
  const { project_id, digest } = object
  const candidates = await readCandidates(object, signal)
  const refsOf = (isOwn: boolean) =>
    [...candidates].filter(([, each]) => (each.digest === digest) === isOwn).map(([ref]) => ref)
  const [own, others] = [refsOf(true), refsOf(false)]
  if (own.length === 0) return NONE
  const [known, rest] = await Promise.all([
    readRuns(project_id, own, signal),
    others.length === 0 ? null : readRuns(project_id, others, signal),
  ])
  return { ...known, others: rest?.runs ?? [], candidates }
}

/** The models whose requests are made from any version of a prompt, by their refs. */
async function readCandidates(
  { project_id, object_id }: ObjectVersion,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Candidate>> {
  const body = {
    project_id,
    filter: { base_object_classes: ['Model'] },
    sort_by: [{ field: 'created_at', direction: 'desc' }],
    limit: MODELS_MAX,
  }
  const { objs } = await requestExact<{ objs: ObjectVersion[] }>('/objs/query', body, { signal })
  return new Map(
    objs.flatMap((object) => {
      const { default_params, llm_model_id: llm } = membersOf(object.val)
      const prompt = parseRef(membersOf(default_params).prompt)
      const isIts =
        prompt?.kind === 'object' && prompt.project === project_id && prompt.name === object_id
      return isIts ? [[refOf(object), { digest: prompt.digest, llm }] as const] : []
    }),
  )
}

/** The newest run of the version with one of an older version, the next older first, of the same evaluation and model. */
function findPair(
  { version_index: own }: ObjectVersion,
  versions: readonly ObjectVersion[],
  { runs, others, candidates }: Known,
): { readonly ids: readonly string[]; readonly version: number } | null {
  const indexes = new Map(versions.map(({ digest, version_index }) => [digest, version_index]))
  const versionOf = ({ model }: Run) => indexes.get(candidates.get(model)?.digest ?? '') ?? own
  const older = others
    .filter((run) => versionOf(run) < own)
    .toSorted((left, right) => versionOf(right) - versionOf(left))
  for (const run of runs) {
    const before = older.find(
      ({ evaluation, model }) =>
        evaluation === run.evaluation &&
        candidates.get(model)?.llm === candidates.get(run.model)?.llm,
    )
    if (before !== undefined) return { ids: [before.id, run.id], version: versionOf(before) }
  }
  return null
}

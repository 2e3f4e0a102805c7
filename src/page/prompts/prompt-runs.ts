/** The evaluations that ran a version of a prompt: runs of the models that name it. */
import { html } from 'htm/preact'
import { useMemo } from 'preact/hooks'
import { requestExact } from '../api/client.ts'
import { membersOf } from '../api/wire.ts'
import { runColumns, sortRuns } from '../evaluations/run-columns.ts'
import { RUNS_MAX, type Run, readRuns } from '../evaluations/runs.ts'
import { namesOf } from '../evaluations/scores.ts'
import { type ObjectVersion, refOf } from '../objects/kinds.ts'
import { formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure } from '../parts/notice.ts'
import { Grid } from '../parts/tables/grid.ts'
import { query } from '../shell/location.ts'
import { pathTo } from '../shell/page-route.ts'

/** Limit: versions of models that are searched, the newest, and refs of one filter. */
const MODELS_MAX = 1000

export function PromptRuns({ object }: { readonly object: ObjectVersion }) {
  const { project_id, object_id, digest } = object
  const ref = refOf(object)
  const loaded = useLoad(ref, async (signal) => {
    const models = await readModelsOf(project_id, ref, signal)
    if (models.length === 0) return { runs: [], count: 0 }
    return readRuns(project_id, models, signal)
  })
  const { runs, count } = loaded.value ?? { runs: [], count: 0 }
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
    <p><a class="button" href=${`${pathTo(project_id, 'evaluations', 'new')}?${begin}`}>Run an evaluation of it</a></p>
  </section>`
}

/** The refs of the models whose requests are made from a prompt. */
async function readModelsOf(
  project_id: string,
  prompt: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const body = {
    project_id,
    filter: { base_object_classes: ['Model'] },
    sort_by: [{ field: 'created_at', direction: 'desc' }],
    limit: MODELS_MAX,
  }
  const { objs } = await requestExact<{ objs: ObjectVersion[] }>('/objs/query', body, { signal })
  return objs
    .filter(({ val }) => membersOf(membersOf(val).default_params).prompt === prompt)
    .map(refOf)
}

/** Datasets, ops and runs of evaluations, posted as the tracing SDKs post them. */
import { postForm } from '../../objects/object-fixtures.ts'
import type { TestApp } from '../../support/build-test-app.ts'
import { PROJECT } from '../browser.ts'

type Test = Pick<TestApp, 'app' | 'key' | 'post'>

async function posted({ post }: Pick<Test, 'post'>, url: string, body: unknown) {
  const { status, body: answer, text } = await post(url, body)
  if (status !== 200) throw new Error(`${url}: ${text}`)
  return answer
}

/** @returns its ref */
export async function publish(test: Test, object_id: string, val: unknown): Promise<string> {
  const obj = { project_id: PROJECT, object_id, val }
  const { digest } = await posted(test, '/traces/obj/create', { obj })
  const isOp = (val as { _type?: unknown })._type === 'CustomWeaveType'
  return `weave:///${PROJECT}/${isOp ? 'op' : 'object'}/${object_id}:${digest}`
}

function classed(name: string, fields: object) {
  return { _type: name, _class_name: name, _bases: ['Object', 'BaseModel'], ...fields }
}

interface PublishedDataset {
  readonly ref: string
  /** Of each row, as calls name it. */
  readonly rowRefs: readonly string[]
}

export async function publishDataset(
  test: Test,
  name: string,
  rows: readonly object[],
  fields: object = {},
): Promise<PublishedDataset> {
  const table = { project_id: PROJECT, rows }
  const { digest, row_digests } = await posted(test, '/traces/table/create', { table })
  const tableRef = `weave:///${PROJECT}/table/${digest}`
  const ref = await publish(test, name, classed('Dataset', { name, rows: tableRef, ...fields }))
  return {
    ref,
    rowRefs: row_digests.map((row: string) => `${ref}/attr/rows/id/${row}`),
  }
}

/** @returns its ref */
export async function publishOp(test: Test, name: string, code: string): Promise<string> {
  const form = { project_id: PROJECT, file: code }
  const { body } = await postForm(test, '/traces/file/create', form)
  const val = { _type: 'CustomWeaveType', weave_type: { type: 'Op' } }
  return publish(test, name, { ...val, files: { 'obj.py': body.digest } })
}

export async function publishEvaluation(test: Test, name: string, dataset: string) {
  return publish(test, name, classed('Evaluation', { name, dataset, scorers: [], trials: 1 }))
}

export async function publishModel(test: Test, name: string, fields: object) {
  return publish(test, name, classed('Model', { name, ...fields }))
}

interface RecordedRun {
  readonly id: string
  readonly name: string
  readonly evaluation: string
  readonly model: string
  readonly examples: readonly unknown[]
  /** One for each example. */
  readonly outputs: readonly object[]
  readonly summary: object
  readonly startedMs?: number
}

/** The run with a call for each example below it, all of them ended. */
export async function recordRun(test: Test, run: RecordedRun): Promise<void> {
  const { id, startedMs = Date.now() - 60_000 } = run
  const op = (name: string) => `weave:///${PROJECT}/op/${name}:v1`
  const inputs = { self: run.evaluation, model: run.model }
  const calls = run.examples.map((example, at) => ({
    start: {
      id: `${id}-${at}`,
      parent_id: id,
      op_name: op('Evaluation.predict_and_score'),
      inputs: { ...inputs, example },
    },
    output: run.outputs[at],
  }))
  const root = { id, parent_id: null, op_name: op('Evaluation.evaluate'), display_name: run.name }
  const batch = [{ start: { ...root, inputs }, output: run.summary }, ...calls].flatMap(
    ({ start, output }) => {
      const named = { project_id: PROJECT, id: start.id }
      const started_at = new Date(startedMs).toISOString()
      const ended_at = new Date(startedMs + 1500).toISOString()
      const more = { trace_id: id, started_at, attributes: {} }
      return [
        { mode: 'start', req: { start: { ...named, ...start, ...more } } },
        { mode: 'end', req: { end: { ...named, ended_at, output, summary: {}, exception: null } } },
      ]
    },
  )
  await posted(test, '/traces/call/upsert_batch', { batch })
}

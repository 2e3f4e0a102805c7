/** An app with a data set, a model and scorers that an evaluation on the server can run. */
import { expect } from 'vitest'
import type { Deps } from '../../src/deps.ts'
import type { CompletionCall } from '../../src/inference/backend.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import {
  createScriptedBackend,
  finish,
  piece,
  prompt,
  type Step,
  scriptedModels,
} from '../support/scripted-backend.ts'

export const PROJECT = 'acme/demo'
const POLL = { timeout: 20_000 }

/** Repeats the last message, the whole of which is `[prompt]`. */
const echo = ({ request }: CompletionCall): Step[] => [
  prompt(),
  piece(String((request as { messages: { content: string }[] }).messages.at(-1)?.content)),
  finish(),
]

export const CONTAINS = {
  kind: 'rule',
  rule: { type: 'contains', texts: ['Paris'] },
} as const
export const EQUALS = {
  kind: 'rule',
  rule: { type: 'equals', expected_path: '$.reference.expected' },
} as const
const ROWS = [
  { question: 'Paris', expected: 'Say Paris' },
  { question: 'Rome', expected: 'Rome' },
  { question: 'Oslo', expected: 'Say Oslo' },
]
const MODEL = {
  _type: 'LLMStructuredCompletionModel',
  llm_model_id: 'openai/scripted',
  default_params: { messages_template: [{ role: 'user', content: 'Say {question}' }] },
}

interface EvaluationAppOptions {
  readonly script?: (call: CompletionCall) => Iterable<Step>
  readonly rows?: readonly object[]
  readonly deps?: Partial<Deps>
}

export async function buildEvaluationApp(options: EvaluationAppOptions = {}) {
  const { script = echo, rows = ROWS, deps = {} } = options
  const backend = createScriptedBackend(script)
  const app = await buildTestApp({}, { models: scriptedModels({ backend }), ...deps })
  /** Publishes an object. @returns its ref */
  const publish = async (object_id: string, val: object): Promise<string> => {
    const { status, body, text } = await app.post('/obj/create', {
      obj: { project_id: PROJECT, object_id, val },
    })
    expect(status, text).toBe(200)
    return `weave:///${PROJECT}/object/${object_id}:${body.digest}`
  }
  const publishDataset = async (of: readonly object[] = rows) => {
    const { body } = await app.post('/table/create', { table: { project_id: PROJECT, rows: of } })
    return publish('cities', {
      _type: 'Dataset',
      rows: `weave:///${PROJECT}/table/${body.digest}`,
    })
  }
  const publishEvaluation = async (
    scorers: Readonly<Record<string, object>>,
    more: object = {},
  ) => {
    const refs: string[] = []
    for (const [name, scorer] of Object.entries(scorers)) refs.push(await publish(name, scorer))
    const dataset = await publishDataset()
    return publish('cities-evaluation', { _type: 'Evaluation', dataset, scorers: refs, ...more })
  }
  const publishModel = (more: object = {}) => publish('answers', { ...MODEL, ...more })
  const evaluate = async (scorers: Readonly<Record<string, object>>, more: object = {}) => {
    const evaluation_ref = await publishEvaluation(scorers, more)
    const model_ref = await publishModel()
    const asked = { project_id: PROJECT, evaluation_ref, model_ref }
    const { status, body, text } = await app.post('/evaluations/evaluate_model', asked)
    expect(status, text).toBe(200)
    return { call_id: body.call_id as string, evaluation_ref, model_ref }
  }
  const status = async (call_id: string) =>
    (await app.post('/evaluations/status', { project_id: PROJECT, call_id })).body.status
  /** Waits for the end. @returns the last status */
  const ended = async (call_id: string) => {
    await expect.poll(async () => (await status(call_id)).code, POLL).not.toBe('running')
    return status(call_id)
  }
  // biome-ignore lint/suspicious/noExplicitAny: calls of every shape.
  const calls = async (filter: object): Promise<any[]> => {
    const { text } = await app.post('/calls/stream_query', { project_id: PROJECT, filter })
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }
  // biome-ignore lint/suspicious/noExplicitAny: feedback of every shape.
  const feedback = async (): Promise<any[]> =>
    (await app.post('/feedback/query', { project_id: PROJECT })).body.result
  return {
    ...app,
    backend,
    publish,
    publishEvaluation,
    publishModel,
    evaluate,
    status,
    ended,
    calls,
    feedback,
  }
}

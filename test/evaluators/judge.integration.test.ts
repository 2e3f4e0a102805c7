import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import type { Principal } from '../../src/domain/access/permissions.ts'
import { resolvePrice } from '../../src/domain/prices/project-prices.ts'
import type { App } from '../../src/http/app-type.ts'
import { openInference } from '../../src/routes/chat/inference.ts'
import { JudgeScorer } from '../../src/schemas/evaluators/scorer.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import {
  createScriptedBackend,
  finish,
  piece,
  prompt,
  scriptedModels,
} from '../support/scripted-backend.ts'

const project_id = 'acme/demo'
const CALLER: Principal = {
  keyId: 'key-1',
  svc_user_id: 'ada',
  svc_username: 'Ada',
  scopes: ['inference'],
  projects: [project_id],
}
/** What a response of one token to a prompt of three costs by it: 0.005 dollars. */
const PRICE = { prompt_token_cost: 0.001, completion_token_cost: 0.002 }

/** @param text - of the judge's response */
async function build(text: string) {
  const backend = createScriptedBackend([prompt(), piece(text), finish()])
  const { deps } = await buildTestApp()
  const defaults = { project_id, id: 'p', svc_user_id: 'ada', created_at_us: 0 }
  await deps.prices.createPrices([resolvePrice('scripted', PRICE, defaults)])
  const app = Fastify() as unknown as App
  onTestFinished(() => app.close())
  const { scorers } = openInference(app, {
    ...deps,
    models: scriptedModels({ backend }),
    trained: deps.previewModels,
    completionsMax: 1,
    keyCompletionsMax: null,
    keyRequestsPerMinute: null,
    keyTokensPerMinute: null,
    cacheBytesMax: 1,
    watch: deps.metrics,
    refScheme: 'weave',
    webhookHosts: [],
    nowUs: () => Date.now() * 1000,
  })
  const score = (more: object = {}) =>
    scorers.score(
      JudgeScorer.parse({
        kind: 'judge',
        model: 'scripted',
        messages: [{ role: 'user', content: 'Q: {question} A: {output} {{}}' }],
        variables: { question: '$.inputs.question', output: '$.output' },
        ...more,
      }),
      { inputs: { question: '2 + 2?' }, output: { text: 'four' } },
      {
        project_id,
        caller: CALLER,
        attributes: { evaluator: 'exact' },
        signal: new AbortController().signal,
      },
    )
  return { backend, deps, score }
}

it('a judge gets its variables and its schema, and its recorded call and cost are known', async () => {
  const { backend, deps, score } = await build('{"reason":"yes","score":0.75}')
  const found = await score()
  expect(found).toMatchObject({ value: 0.75, reason: 'yes', cost_usd: 0.005 })
  const [call] = backend.calls
  expect(call?.request.messages[0]?.content).toBe('Q: 2 + 2? A: {"text":"four"} {}')
  expect(call?.request.response_format).toMatchObject({ type: 'json_schema' })
  await expect
    .poll(() => deps.calls.findCall(project_id, found.call_id ?? ''), { timeout: 5_000 })
    .toMatchObject({ op_name: 'weft.judge', attributes: { evaluator: 'exact' } })
})

it.each([
  ['sure, it is right', /no JSON object/],
  ['{"reason":"yes","score":7}', /\/score must be <= 1/],
])('a response of %s is no score, and is paid', async (text, message) => {
  const { score } = await build(text)
  const error = await score().catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'scorer_failed', cost_usd: 0.005 })
  expect(error.message).toMatch(message)
})

/** An app with evaluators whose rounds a test runs itself. */

import { onTestFinished } from 'vitest'
import type { Config } from '../../src/config.ts'
import type { Deps } from '../../src/deps.ts'
import { createEvaluatorRunner } from '../../src/evaluators/runner.ts'
import { newId } from '../../src/http/new-id.ts'
import { createChecks } from '../../src/inference/scorers/rules.ts'
import type { Scorers } from '../../src/inference/scorers/scorers.ts'
import { buildTestApp } from '../support/build-test-app.ts'

export const project_id = 'acme/demo'
export const RULE = { kind: 'rule', rule: { type: 'contains', texts: ['yes'] } } as const

/** Scores by rules alone. */
export function ruleScorers(): Pick<Scorers, 'score'> {
  const checks = createChecks()
  onTestFinished(checks.close)
  return {
    async score(scorer, subject) {
      if (scorer.kind !== 'rule') throw new Error('no rule')
      return checks.score(scorer, subject)
    },
  }
}

export function openRunner(
  deps: Deps,
  scorers: Pick<Scorers, 'score'>,
  more: { nowUs?: () => number; onFailure?: (error: unknown) => void } = {},
) {
  const runner = createEvaluatorRunner({
    stores: deps,
    scorers,
    refScheme: 'weave',
    payloadBytesMax: 1024 * 1024,
    isShared: false,
    nowUs: () => Date.now() * 1000,
    newId,
    onFailure(error) {
      throw error
    },
    ...more,
  })
  onTestFinished(runner.stop)
  return runner
}

export async function buildEvaluatorApp(
  replaced: Partial<Deps> = {},
  overrides: Partial<Config> = {},
) {
  const app = await buildTestApp(overrides, replaced)
  let count = 0
  /** Stores a call, by default one that has ended. */
  async function storeCall(more: Record<string, unknown> = {}, end: object | null = {}) {
    count += 1
    const { id = `call-${count}`, trace_id = `trace-${count}`, ...start } = more
    const at = '2026-01-31T09:30:00Z'
    const named = { project_id, id, trace_id }
    await app.post('/call/start', {
      start: { ...named, op_name: 'op', started_at: at, attributes: {}, inputs: {}, ...start },
    })
    if (end !== null) await endCall(String(id), end)
    return String(id)
  }
  async function endCall(id: string, end: object = {}) {
    const ended = { project_id, id, ended_at: '2026-01-31T09:30:01Z', summary: {} }
    await app.post('/call/end', { end: { ...ended, output: 'yes', ...end } })
  }
  async function create(more: object = {}) {
    const response = await app.post('/evaluators', {
      project_id,
      name: 'says-yes',
      scorer: RULE,
      ...more,
    })
    if (response.status !== 200) throw new Error(response.text)
    return response.body
  }
  async function results(query: object = {}) {
    const response = await app.post('/feedback/query', { project_id, ...query })
    // biome-ignore lint/suspicious/noExplicitAny: payloads of every shape.
    return response.body.result as Record<string, any>[]
  }
  const read = async (id: string) =>
    (await app.get(`/evaluators/${id}?project_id=${encodeURIComponent(project_id)}`)).body
  return { ...app, storeCall, endCall, create, results, read }
}

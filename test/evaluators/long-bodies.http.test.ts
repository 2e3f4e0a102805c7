import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ScoredSubject } from '../../src/domain/evaluators/score.ts'
import { buildEvaluatorApp, openRunner, project_id } from './evaluator-app.ts'

const CALLS = 12
const CHARS = 2 * 1024 * 1024
/** Of calls and traces that are scored at once. */
const CHARS_MAX = 8 * 1024 * 1024

/** Scores everything, and records the characters of the outputs that it was given at once. */
function watchingScorers() {
  let held = 0
  const seen = { most: 0 }
  const charsOf = ({ output }: ScoredSubject) => String(output).length
  const score = async (_: unknown, subject: ScoredSubject) => {
    held += charsOf(subject)
    seen.most = Math.max(seen.most, held)
    await nextTurn()
    held -= charsOf(subject)
    return { output: { passed: true }, value: 1, reason: null, cost_usd: null, call_id: null }
  }
  return { score, seen }
}

describe('a rule on calls with long bodies', () => {
  it.each(['call', 'trace'])('scores each %s, and holds few of them at once', async (target) => {
    const { score, seen } = watchingScorers()
    const { deps, create, read, storeCall, post } = await buildEvaluatorApp()
    const runner = openRunner(deps, { score })
    const { id } = await create({ target, state: 'paused' })
    for (let at = 0; at < CALLS; at++) await storeCall({}, { output: 'x'.repeat(CHARS) })
    await post(`/evaluators/${id}/resume`, { project_id })
    await post(`/evaluators/${id}/backfill`, { project_id })
    await runner.runRound()
    expect(await read(id)).toMatchObject({ scored: CALLS, waiting: 0, failed: 0 })
    expect(seen.most).toBeLessThanOrEqual(CHARS_MAX + CHARS)
  })
})

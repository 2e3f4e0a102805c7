import { describe, expect, it, vi } from 'vitest'
import { toPersonPrincipal } from '../../src/domain/access/roles.ts'
import { type Evaluator, principalOf, toPayer } from '../../src/domain/evaluators/evaluator.ts'
import { ApiError } from '../../src/errors.ts'
import { UnusableResponseError } from '../../src/inference/scorers/judge.ts'
import { PERSON } from '../support/person.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../support/scripted-backend.ts'
import { buildEvaluatorApp, openRunner, project_id, RULE, ruleScorers } from './evaluator-app.ts'

async function build() {
  const app = await buildEvaluatorApp()
  let now = Date.now() * 1000
  const runner = openRunner(app.deps, ruleScorers(), { nowUs: () => now })
  const later = (seconds: number) => {
    now += seconds * 1_000_000
  }
  return { ...app, runner, later }
}

/** Longer than a round takes on a busy machine. */
const POLL = { timeout: 10_000 }

describe('evaluators', () => {
  it('score each new call once, and no older one', async () => {
    const { storeCall, create, results, read, runner } = await build()
    await storeCall()
    const { id, ref } = await create()
    const [yes, no] = [await storeCall(), await storeCall({}, { output: 'no' })]
    for (let round = 0; round < 3; round++) await runner.runRound()
    const found = await results({ sort_by: [{ field: 'weave_ref', direction: 'asc' }] })
    expect(found.map(({ weave_ref, payload }) => [weave_ref, payload.output.passed])).toEqual([
      [`weave:///${project_id}/call/${yes}`, true],
      [`weave:///${project_id}/call/${no}`, false],
    ])
    expect(found[0]).toMatchObject({
      feedback_type: 'wandb.runnable.says-yes',
      runnable_ref: ref,
      call_ref: null,
      creator: 'says-yes',
      scorer_ratings: { _rating_: 1 },
    })
    expect(await read(id)).toMatchObject({ scored: 2, failed: 0, waiting: 0, version: 1 })
  })

  it('wait for a call that has not ended', async () => {
    const { storeCall, endCall, create, results, runner, later } = await build()
    await create()
    const id = await storeCall({}, null)
    await runner.runRound()
    expect(await results()).toEqual([])
    await endCall(id)
    later(2)
    await runner.runRound()
    expect(await results()).toHaveLength(1)
  })

  it('wait for no time that the clock showed before it was set back', async () => {
    const { storeCall, endCall, create, results, runner, later } = await build()
    await create()
    const [yearS, id] = [31_536_000, await storeCall({}, null)]
    later(yearS)
    await runner.runRound()
    await endCall(id)
    later(-yearS)
    await runner.runRound()
    expect(await results()).toHaveLength(1)
  })

  it('score only what meets their condition', async () => {
    const { storeCall, create, results, runner } = await build()
    const query = { $expr: { $eq: [{ $getField: 'output.kind' }, { $literal: 'a' }] } }
    await create({ filter: { op_names: ['wanted'] }, query })
    const wanted = await storeCall({ op_name: 'wanted' }, { output: { kind: 'a' } })
    await storeCall({ op_name: 'wanted' }, { output: { kind: 'b' } })
    await storeCall({}, { output: { kind: 'a' } })
    await runner.runRound()
    const found = await results()
    expect(found.map(({ weave_ref }) => weave_ref.split('/').at(-1))).toEqual([wanted])
  })

  it.each(['trace', 'conversation'] as const)(
    'score a %s as a whole once it rests, and only once',
    async (target) => {
      const { storeCall, create, results, runner, later } = await build()
      const paths = { path: '$.calls[*].output', type: 'contains', texts: ['late'] }
      await create({ target, rest_seconds: 10, scorer: { kind: 'rule', rule: paths } })
      const own = { trace_id: 't', thread_id: 'th' }
      const root = await storeCall({ ...own, id: 'root', turn_id: 'root' })
      await runner.runRound()
      later(9)
      await storeCall({ ...own, id: 'child', parent_id: root, turn_id: 'root' }, { output: 'late' })
      await storeCall({ ...own, id: 'other', turn_id: 'other' }, { output: 'late' })
      await runner.runRound()
      later(9)
      await runner.runRound()
      expect(await results()).toEqual([])
      later(2)
      await runner.runRound()
      await storeCall({ ...own, id: 'after' })
      await runner.runRound()
      later(11)
      await runner.runRound()
      const found = await results()
      expect(found.map(({ payload }) => payload.output.passed)).toEqual([true])
    },
  )

  it('score a trace whose id reads like the name of a call', async () => {
    const { storeCall, create, results, runner, later } = await build()
    await create({ target: 'trace', rest_seconds: 1 })
    await storeCall({ id: 'my call', trace_id: 'call 7' })
    await runner.runRound()
    later(2)
    await runner.runRound()
    const [found] = await results()
    expect(found?.weave_ref).toBe(`weave:///${project_id}/call/my call`)
  })

  it('are paused and resumed: what is stored meanwhile is not scored', async () => {
    const { post, storeCall, create, results, runner } = await build()
    const { id } = await create()
    expect((await post(`/evaluators/${id}/pause`, { project_id })).body.state).toBe('paused')
    await storeCall()
    await runner.runRound()
    expect((await post(`/evaluators/${id}/resume`, { project_id })).body.state).toBe('active')
    const after = await storeCall()
    await runner.runRound()
    const found = await results()
    expect(found.map(({ weave_ref }) => weave_ref.split('/').at(-1))).toEqual([after])
  })

  it.each(['pause', 'resume'])('keep what is saved while a request to %s runs', async (word) => {
    const { deps, get, post, put, createKey, create } = await build()
    const { id } = await create()
    const key = await createKey({})
    const { evaluators } = deps
    const find = evaluators.findEvaluator
    vi.spyOn(evaluators, 'findEvaluator').mockImplementationOnce(async (name) => {
      const found = await find(name)
      const scorer = { kind: 'rule', rule: { type: 'contains', texts: ['no'] } }
      expect((await put(`/evaluators/${id}`, { project_id, scorer }, { key })).status).toBe(200)
      return found
    })
    const { body } = await post(`/evaluators/${id}/${word}`, { project_id })
    expect(body).toMatchObject({ version: 2, scorer: { rule: { texts: ['no'] } } })
    const last = (await get('/v1/keys')).body.data.at(-1)
    expect(principalOf((await find(id)) as Evaluator).keyId).toBe(last.id)
  })

  it('have versions, each with an object that its results refer to', async () => {
    const { put, get, post, storeCall, create, results, runner } = await build()
    const { id, ref } = await create()
    await storeCall()
    await runner.runRound()
    const scorer = { kind: 'rule', rule: { type: 'contains', texts: ['no'] } }
    const url = `/evaluators/${id}`
    const edited = await put(url, { project_id, scorer })
    expect(edited.body).toMatchObject({ version: 2, scored: 1 })
    expect((await put(url, { project_id, scorer })).body.version).toBe(2)
    await storeCall()
    await runner.runRound()
    const refs = (await results()).map(({ runnable_ref }) => runnable_ref)
    expect(refs.toSorted()).toEqual([ref, edited.body.ref].toSorted())
    const listed = await get(`${url}/versions?project_id=acme%2Fdemo`)
    expect(listed.body.versions.map(({ version }: { version: number }) => version)).toEqual([2, 1])
    const read = await post('/refs/read_batch', { refs })
    expect(
      read.body.vals.map(({ scorer: { kind } }: { scorer: { kind: string } }) => kind),
    ).toEqual(['rule', 'rule'])
  })

  it('are listed, and deleted with what waits, in the audit list', async () => {
    const { post, delete: remove, get, create, read } = await build()
    const { id } = await create()
    const list = async () => (await post('/evaluators/query', { project_id })).body.evaluators
    expect((await list()).map(({ name }: { name: string }) => name)).toEqual(['says-yes'])
    expect((await remove(`/evaluators/${id}?project_id=acme%2Fdemo`)).body.deleted).toBe(true)
    expect(await list()).toEqual([])
    expect((await read(id)).error.code).toBe('evaluator_not_found')
    const audited = (await get('/v1/audit')).body.data
    const actions = audited.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(expect.arrayContaining(['evaluator.create', 'evaluator.delete']))
  })

  it.each([
    [{ scorer: { kind: 'rule', rule: { type: 'regex', pattern: '(' } } }, 'scorer.rule.pattern'],
    [{ scorer: { kind: 'rule', rule: { type: 'length', path: 'output' } } }, 'scorer.rule.path'],
    [{ scorer: { kind: 'rule', rule: { type: 'equals' } } }, 'scorer.rule.value'],
    [{ scorer: { kind: 'rule', rule: { type: 'similarity' } } }, 'scorer.rule.value'],
    [{ scorer: RULE, sampling: 2 }, 'sampling'],
    [{ scorer: RULE, query: { $expr: { $nope: [] } } }, 'query.$expr'],
    [{ scorer: RULE, name: 'a/b' }, 'name'],
  ])('refuse %j, naming %s', async (more, param) => {
    const { post } = await build()
    const { status, body } = await post('/evaluators', { project_id, name: 'x', ...more })
    expect(status).toBe(422)
    expect(body.error.param).toContain(param)
  })

  it('refuse a name that is taken, and a judge of a key without inference', async () => {
    const { post, create, createKey } = await build()
    await create()
    const again = await post('/evaluators', { project_id, name: 'says-yes', scorer: RULE })
    expect([again.status, again.body.error.code]).toEqual([409, 'evaluator_conflict'])
    const key = await createKey({ scopes: ['traces:write'] })
    const scorer = { kind: 'judge', model: 'tiny', messages: [{ role: 'user', content: 'x' }] }
    const judged = await post('/evaluators', { project_id, name: 'j', scorer }, { key })
    expect(judged.body.error.code).toBe('scope_missing')
  })

  it('stop when the key that pays is revoked', async () => {
    const { post, createKey, delete: remove, get, storeCall, read, runner, results } = await build()
    const key = await createKey({})
    const made = await post('/evaluators', { project_id, name: 'x', scorer: RULE }, { key })
    const keys = (await get('/v1/keys')).body.data
    const last = keys.at(-1).id
    await remove(`/v1/keys/${last}`)
    await storeCall()
    await runner.runRound()
    expect(await results()).toEqual([])
    expect(await read(made.body.id)).toMatchObject({
      state: 'paused',
      last_error: expect.stringContaining('revoked'),
      waiting: 1,
    })
  })

  it('stop when the person who pays has lost the role in the project', async () => {
    const { deps, create, storeCall, read, runner, results } = await build()
    const { id } = await create()
    const role = 'developer' as const
    const person = { ...PERSON, grants: [{ role, projects: [project_id] }] }
    await deps.people.createPerson(person)
    const found = await deps.evaluators.findEvaluator(id)
    if (found === null) throw new Error('it is not stored')
    const payer = toPayer(toPersonPrincipal(person), project_id)
    await deps.evaluators.updateEvaluator({ ...found, principal_json: JSON.stringify(payer) })
    await storeCall()
    await runner.runRound()
    expect(await results()).toHaveLength(1)
    await deps.people.updatePerson({ ...person, grants: [{ role: 'viewer', projects: ['*'] }] })
    await storeCall()
    await runner.runRound()
    expect(await results()).toHaveLength(1)
    const last_error = expect.stringContaining('lacks the rights')
    expect(await read(id)).toMatchObject({ state: 'paused', last_error, waiting: 1 })
  })

  it('with a judge are resumed, and score old calls, for keys with inference alone', async () => {
    const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
    const { post, put, create, createKey } = await buildEvaluatorApp({ models })
    const message = { role: 'user', content: '{output}' }
    const scorer = { kind: 'judge', model: 'scripted', messages: [message], max_tokens: 9 }
    const { id } = await create({ scorer })
    const key = await createKey({ scopes: ['traces:read', 'traces:write'] })
    const url = `/evaluators/${id}`
    const codes = async (as: object) => [
      (await post(`${url}/pause`, { project_id }, as)).status,
      (await post(`${url}/resume`, { project_id }, as)).status,
      (await post(`${url}/backfill`, { project_id }, as)).status,
    ]
    expect(await codes({ key })).toEqual([200, 403, 403])
    expect(await codes({})).toEqual([200, 200, 200])
    const running = { project_id, state: 'running' }
    expect((await put(`${url}/backfill`, { project_id, state: 'paused' }, { key })).status).toBe(
      200,
    )
    expect((await put(`${url}/backfill`, running, { key })).status).toBe(403)
    expect((await put(`${url}/backfill`, running)).status).toBe(200)
  })

  it('count what judges without a usable response cost, and rest when the day is spent', async () => {
    const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
    const { deps, create, read, storeCall } = await buildEvaluatorApp({ models })
    const message = { role: 'user', content: '{output}' }
    const scorer = { kind: 'judge', model: 'scripted', messages: [message], max_tokens: 9 }
    const { id } = await create({ scorer, max_usd_per_day: 0.5, concurrency: 1 })
    const asked: string[] = []
    const runner = openRunner(deps, {
      async score(_scorer, subject) {
        asked.push(String(subject.id))
        throw new UnusableResponseError(new ApiError('scorer_failed'), 0.5)
      },
    })
    await storeCall()
    await storeCall()
    await runner.runRound()
    await runner.runRound()
    expect(asked).toHaveLength(1)
    expect(await read(id)).toMatchObject({ spent_usd: 0.5, spent_today_usd: 0.5, waiting: 2 })
  })

  it('score a number of calls at once in a process, whichever evaluators they are of', async () => {
    const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
    const { deps, create, storeCall } = await buildEvaluatorApp({ models })
    const message = { role: 'user', content: '{output}' }
    const scorer = { kind: 'judge', model: 'scripted', messages: [message], max_tokens: 9 }
    await create({ scorer, concurrency: 2 })
    const gate = Promise.withResolvers<never>()
    const score = vi.fn(() => gate.promise)
    const runner = openRunner(deps, { score })
    for (let at = 0; at < 3; at++) await storeCall()
    const claim = vi.spyOn(deps.evaluators, 'claimTasks')
    const first = runner.runRound()
    // A claim counts once its calls are scored, not when it is requested.
    await expect.poll(() => score.mock.calls.length, POLL).toBe(2)
    const second = runner.runRound()
    await expect.poll(() => claim.mock.calls.length, POLL).toBe(2)
    expect(claim.mock.calls.map(([{ tasksMax }]) => tasksMax)).toEqual([256, 254])
    gate.reject(new ApiError('scorer_failed'))
    await Promise.all([first, second])
  })

  it('count a result, and its cost, whose process ends before it counts them', async () => {
    const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
    const { deps, create, read, results, storeCall } = await buildEvaluatorApp({ models })
    const message = { role: 'user', content: '{output}' }
    const scorer = { kind: 'judge', model: 'scripted', messages: [message], max_tokens: 9 }
    const { id } = await create({ scorer })
    const output = { score: 1 }
    const score = { output, value: 1, reason: null, cost_usd: 0.25, call_id: null }
    const runner = openRunner(deps, { score: async () => score }, { onFailure: () => undefined })
    await storeCall()
    vi.spyOn(deps.evaluators, 'settleTasks').mockRejectedValueOnce(new Error('killed'))
    await runner.runRound()
    expect(await read(id)).toMatchObject({ scored: 0, spent_usd: 0, waiting: 1 })
    await deps.evaluators.releaseTasks()
    await runner.runRound()
    expect(await results()).toHaveLength(1)
    expect(await read(id)).toMatchObject({ scored: 1, spent_usd: 0.25, waiting: 0 })
  })
})

/** A server that is killed while rules add calls: each call is in the queue once, and none is lost. */
import { expect, it } from 'vitest'
import { spawnServer } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const project_id = 'acme/demo'
const KILLS = 3
const CALLS = 300

it('after kill -9 each call that rules find is in the queue once', async () => {
  const environment = { WEFT_DATA_DIR: makeTempDir() }
  let server = await spawnServer(environment)
  const post = (path: string, body: object) => server.postJson(path, body)
  const named = { project_id, name: 'q', scorer_refs: [] }
  const limits = { max_per_day: 10_000 }
  const [all, bad] = await Promise.all(
    [{ random: 1 }, { thumbs_down: true }].map((rule) =>
      post('/annotation_queues', { ...named, rules: { ...rule, ...limits } }),
    ),
  )
  const itemsOf = async ({ id }: { id: string }): Promise<string[]> => {
    const { items } = await post(`/annotation_queues/${id}/items/query`, { project_id })
    return items.map(({ call_id }: { call_id: string }) => call_id).sort()
  }
  const stored: string[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const ids = Array.from({ length: CALLS / KILLS }, (_, n) => `call-${kill}-${n}`)
    stored.push(...ids)
    const batch = ids.flatMap((id) => {
      const begun = { op_name: 'op', started_at: '2026-01-31T09:30:00Z', attributes: {} }
      const start = { project_id, id, trace_id: `trace-${id}`, ...begun, inputs: {} }
      const end = { project_id, id, ended_at: '2026-01-31T09:30:01Z', output: id, summary: {} }
      return [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end } },
      ]
    })
    await post('/call/upsert_batch', { batch })
    const about = (id: string) => ({
      project_id,
      weave_ref: `weave:///${project_id}/call/${id}`,
      feedback_type: 'wandb.reaction.1',
      payload: { emoji: '👎' },
    })
    await Promise.all(ids.map((id) => post('/traces/feedback/create', about(id))))
    // In the middle of the rounds: some calls are added already, others wait.
    if (kill > 0) await expect.poll(async () => (await itemsOf(all)).length > 0).toBe(true)
    await server.stop('SIGKILL')
    server = await spawnServer(environment)
  }
  for (const queue of [all, bad]) {
    await expect
      .poll(async () => (await itemsOf(queue)).length, { timeout: 30_000, interval: 200 })
      .toBe(CALLS)
    expect(await itemsOf(queue)).toEqual(stored.toSorted())
  }
}, 120_000)

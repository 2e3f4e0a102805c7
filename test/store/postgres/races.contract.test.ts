import { describe, expect, it } from 'vitest'
import { PRICES_PER_PROJECT_MAX } from '../../../src/domain/prices/price-limits.ts'
import { resolvePrice } from '../../../src/domain/prices/project-prices.ts'
import { QUEUES_LIMIT_MAX } from '../../../src/schemas/limits.ts'
import { connectPostgres } from '../../../src/store/postgres/db/client.ts'
import { readCaller } from '../../support/read-caller.ts'
import { openTestStores } from './open-postgres.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

const project_id = 'acme/demo'

/** The stores of two processes. */
async function openTwo() {
  const url = await makeDatabase()
  return { url, one: await openTestStores(url), other: await openTestStores(url) }
}

/** How many did what they tried at once; the others were refused. */
async function countDone(tries: readonly Promise<unknown>[]): Promise<number> {
  const ended = await Promise.allSettled(tries)
  for (const end of ended) {
    if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'validation_failed' })
  }
  return ended.filter(({ status }) => status === 'fulfilled').length
}

describe.skipIf(!hasPostgres)('processes that write at once', () => {
  it('keep the limit of prices of a project together', async () => {
    const { one, other } = await openTwo()
    const half = Math.ceil((PRICES_PER_PROJECT_MAX + 1) / 2)
    const create = (name: string, { prices }: typeof one) => {
      const cost = { prompt_token_cost: 1, completion_token_cost: 2 }
      const priceOf = (_: unknown, at: number) =>
        resolvePrice('m', cost, {
          project_id,
          id: `${name}${at}`,
          svc_user_id: 'u',
          created_at_us: 1,
        })
      return prices.createPrices(Array.from({ length: half }, priceOf))
    }
    const tries = [create('a', one), create('b', other), create('c', one), create('d', other)]
    expect(await countDone(tries)).toBe(1)
    expect(await one.prices.listPrices(project_id)).toHaveLength(half)
  })

  it('keep the limit of annotation queues of a project together', async () => {
    const { url, one, other } = await openTwo()
    const queue = {
      ...{ project_id, name: 'n', description: '', scorer_refs_json: '[]', created_by: 'u' },
      ...{ created_at_us: 1, updated_at_us: 1, deleted_at_us: null },
    }
    const db = connectPostgres({ url, readTimeoutMs: 20_000 })
    try {
      await db.run(
        `INSERT INTO annotation_queues (id, project_id, name, description, scorer_refs_json, created_by, created_at_us, updated_at_us)
        SELECT n::text, @project_id, 'n', '', '[]', 'u', 1, 1 FROM generate_series(2, @count::integer) AS n`,
        { project_id, count: QUEUES_LIMIT_MAX },
      )
    } finally {
      await db.close()
    }
    const tries = [one, other, one, other].map(({ annotation }, at) =>
      annotation.createQueue({ ...queue, id: `new ${at}` }),
    )
    expect(await countDone(tries)).toBe(1)
    const listed = await other.annotation.listQueues(readCaller())
    expect(listed).toHaveLength(QUEUES_LIMIT_MAX)
  })
})

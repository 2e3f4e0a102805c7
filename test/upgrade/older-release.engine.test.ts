/** A start on what an older release has left, in each store. */
import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config.ts'
import { hasClickHouse, makeDatabase } from '../store/clickhouse/clickhouse-server.ts'
import { hasPostgres, makeDatabase as makePostgres } from '../store/postgres/postgres-server.ts'
import { basic, buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import {
  fillOlderClickHouse,
  fillOlderDirectory,
  fillOlderPostgres,
  requireSameReads,
} from './older-release.ts'

/** Starts, reads what the older release had responded with, and stores a call. */
async function upgrade(stores: Partial<Config>): Promise<void> {
  const { app, key, post } = await buildTestApp(stores)
  await requireSameReads(async (url, payload) => {
    const headers = { authorization: basic(key) }
    const { statusCode, rawPayload } = await app.inject({ method: 'POST', url, headers, payload })
    return { status: statusCode, bytes: rawPayload }
  })
  const start = { project_id: 'acme/demo', id: 'newer', op_name: 'answer', attributes: {} }
  const begun = { ...start, started_at: '2026-02-02T00:00:00Z', inputs: {} }
  expect((await post('/call/start', { start: begun })).status).toBe(200)
  const { body } = await post('/call/read', { project_id: 'acme/demo', id: 'newer' })
  expect(body).toMatchObject({ call: { id: 'newer' } })
}

describe('the start on data of release 0.1.0', () => {
  it('migrates a data directory, which reads as before', async () => {
    const dataDir = makeTempDir()
    await fillOlderDirectory(dataDir)
    await upgrade({ dataDir })
  })

  it.skipIf(!hasClickHouse || !hasPostgres)(
    'migrates ClickHouse and PostgreSQL, which read as before',
    async () => {
      const metaUrl = await makePostgres({ isEmpty: true })
      const url = await makeDatabase()
      await fillOlderPostgres(metaUrl)
      await fillOlderClickHouse(url)
      const dataDir = makeTempDir()
      await upgrade({ dataDir, store: 'clickhouse', clickhouse: { url, cluster: null }, metaUrl })
    },
  )
})

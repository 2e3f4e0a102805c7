import { describe, expect, it, onTestFinished } from 'vitest'
import * as SQL from '../../src/store/sqlite/annotation/annotation-queues.sql.ts'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../src/store/sqlite/db/migrate.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { startOf } from '../store/call-store-contract.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import {
  type AnnotationStores,
  describeAnnotationStoreContract,
} from './annotation-store-contract.ts'

async function open(dataDir: string): Promise<AnnotationStores> {
  const store = openSqliteStore({ ingestQueueMax: 1000, dataDir })
  onTestFinished(() => store.close())
  const startCalls: AnnotationStores['startCalls'] = async (project_id, ids) => {
    for (const id of ids) await store.calls.startCall(startOf({ project_id, id }))
  }
  return { annotation: store.annotation, startCalls }
}

describeAnnotationStoreContract('sqlite', () => open(':memory:'))
describeAnnotationStoreContract('sqlite with threads', () => open(makeTempDir()))

describe('the statements of annotation queues', () => {
  const statements = { ...SQL, LIST_ITEMS: SQL.listItems([]) }
  const texts = Object.entries(statements).filter(([name]) => /^[A-Z_]+$/.test(name))

  it.each(texts.filter(([, sql]) => typeof sql === 'string' && !/\?/.test(sql)))(
    '%s scans no table',
    (_name, sql) => {
      const db = openDatabase(':memory:')
      onTestFinished(() => void db.close())
      migrate(db)
      const names = [...String(sql).matchAll(/@(\w+)/g)].map(([, name]) => [name, null])
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(names))
      const details = (plan as { detail: string }[]).map(({ detail }) => detail)
      expect(details.filter((text) => /^SCAN (?!json_each|\(subquery)/.test(text))).toEqual([])
    },
  )
})

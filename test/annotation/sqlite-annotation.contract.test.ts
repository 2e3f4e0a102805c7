import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as SQL from '../../src/store/base/annotation/annotation-queues.sql.ts'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { SQLITE } from '../../src/store/sqlite/db/dialect.sql.ts'
import { migrate, readMigrations } from '../../src/store/sqlite/db/migrate.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { openMigrated } from '../store/support/migrated-database.ts'
import { readCaller } from '../support/read-caller.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import {
  type AnnotationStores,
  describeAnnotationStoreContract,
} from './annotation-store-contract.ts'

async function open(dataDir: string): Promise<AnnotationStores> {
  const store = openSqliteStore({ ingestQueueMax: 1000, dataDir })
  onTestFinished(() => store.close())
  return store
}

describeAnnotationStoreContract('sqlite', () => open(':memory:'))
describeAnnotationStoreContract('sqlite with threads', () => open(makeTempDir()))

describe('the statements of annotation queues', () => {
  const listing = { project_id: 'acme/demo', queue_id: 'q' }
  const positions = SQL.selectItems({ ...listing, include_position: true }, SQLITE)
  const texts = Object.entries({ ...SQL, SELECT_ITEMS: positions })

  it.each(texts.filter(([, sql]) => /^\s*(?:SELECT|INSERT|UPDATE)\b/.test(String(sql))))(
    '%s scans no table',
    (_name, sql) => {
      const db = openMigrated()
      const names = [...String(sql).matchAll(/@(\w+)/g)].map(([, name]) => [name, null])
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(names))
      const details = (plan as { detail: string }[]).map(({ detail }) => detail)
      expect(
        details.filter((text) =>
          /^SCAN (?!json_each|items|\(subquery|annotation_queues USING INDEX annotation_queues_project_id_rules)/.test(
            text,
          ),
        ),
      ).toEqual([])
    },
  )

  it('read a page of items in their order from an index', () => {
    const db = openMigrated()
    const sql = SQL.selectItems(listing, SQLITE)
    const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null])
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(names))
    const details = (plan as { detail: string }[]).map(({ detail }) => detail).join()
    expect(details).toContain('annotation_items_queue_key (queue_key=?)')
    expect(details).not.toContain('TEMP B-TREE')
  })
})

/** Migrations before items named calls by id. */
const KEYED = 19
const MIGRATIONS = fileURLToPath(new URL('../../migrations/sqlite/', import.meta.url))
const QUEUE = `
INSERT INTO projects (project_id) VALUES ('acme/demo');
INSERT INTO ops (op_name) VALUES ('op');
INSERT INTO annotation_queues (id, project_id, name, description, scorer_refs_json, created_by, created_at_us, updated_at_us)
VALUES ('q', 'acme/demo', 'n', '', '[]', 'u', 1, 1);
INSERT INTO annotation_items
  (id, queue_key, call_key, display_fields_json, added_by, created_at_us, updated_at_us, annotation_state, annotator_user_id, is_done)
SELECT 'i-' || call_key, 1, call_key, '["a"]', 'u', call_key, 9, 'completed', 'ann', 1 FROM calls;
INSERT INTO annotation_progress VALUES (1, 'ann', 'completed', 9);
`

describe('a database whose items have keys of calls', () => {
  it('keeps items, states and progress under the ids of the calls', async () => {
    const [dataDir, directory] = [makeTempDir(), makeTempDir()]
    for (const { name } of readMigrations().slice(0, KEYED)) {
      cpSync(join(MIGRATIONS, name), join(directory, name))
    }
    const db = openDatabase(dataDir)
    migrate(db, `${directory}/`)
    const uuid = '01980c1e-8a7b-7c3d-9e2f-0123456789ab'
    const ids = [uuid, uuid.replaceAll('-', ''), 'fedcba9876543210', 'call-1', uuid.toUpperCase()]
    const bytes = (id: string) =>
      id === uuid
        ? Buffer.from(id.replaceAll('-', ''), 'hex')
        : id.length === 32
          ? Buffer.from(`00${id}`, 'hex')
          : id.length === 16
            ? Buffer.from(id, 'hex')
            : id
    const insert = db.prepare(
      'INSERT INTO calls (project_key, id, trace_id, op_key, started_at_us, ended_at_us) VALUES (1, ?, ?, 1, 5, ?)',
    )
    db.pragma('foreign_keys = OFF')
    for (const [at, id] of ids.entries())
      insert.run(bytes(id), bytes(ids[at - 1] ?? 't'), at || null)
    db.exec(QUEUE)
    db.close()

    const store = openSqliteStore({ ingestQueueMax: 1000, dataDir })
    onTestFinished(() => store.close())
    const caller = readCaller()
    const listing = { project_id: 'acme/demo', queue_id: 'q' }
    const items = await store.annotation.listItems(listing, caller)
    expect(items).toEqual(
      ids.map((call_id, at) => ({
        id: `i-${at + 1}`,
        ...listing,
        queue_type: 'call',
        call_id,
        call_trace_id: ids[at - 1] ?? 't',
        call_op_name: 'op',
        call_started_at_us: 5,
        call_ended_at_us: at || null,
        display_fields_json: '["a"]',
        added_by: 'u',
        created_at_us: at + 1,
        updated_at_us: 9,
        annotation_state: 'completed',
        annotator_user_id: 'ann',
        position_in_queue: null,
      })),
    )
    const step = { project_id: 'acme/demo', id: 'q', item_id: 'i-1', updated_at_us: 10 }
    await expect(
      store.annotation.takeStep(
        { ...step, annotator_user_id: 'ann', annotation_state: 'skipped' },
        caller,
      ),
    ).rejects.toMatchObject({ code: 'annotation_conflict' })
  })
})

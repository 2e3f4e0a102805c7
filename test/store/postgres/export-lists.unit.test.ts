import { expect, it } from 'vitest'
import type { Statements } from '../../../src/store/postgres/db/client.ts'
import { createLists } from '../../../src/store/postgres/export/project-source.ts'

const MIB = 1024 * 1024

/** A database whose cursors give the rows of their statements. */
function openCursors(rowsOf: Readonly<Record<string, readonly object[]>>) {
  const cursors = new Map<string, object[]>()
  const ran: string[] = []
  const db = {
    async run(sql: string) {
      ran.push(sql)
      const [, name = '', statement = ''] = /^DECLARE (\w+) .*? FOR (.*)$/s.exec(sql) ?? []
      if (name !== '') cursors.set(name, [...(rowsOf[statement] ?? [])])
      return 0
    },
    async all(sql: string) {
      const [, count = '', name = ''] = /^FETCH (\d+) FROM (\w+)$/.exec(sql) ?? []
      ran.push(`FETCH ${count}`)
      return cursors.get(name)?.splice(0, Number(count)) ?? []
    },
  } as unknown as Statements
  return { db, ran }
}

it('a list of rows with large texts fetches at most 4 MiB of them at once, and a larger one alone', async () => {
  const sizes = [3, 0.5, 0.5, 0.5, 32, 1, 1].map((mib) => ({ bytes: mib * MIB }))
  const rows = sizes.map((_, at) => ({ id: at }))
  const { db, ran } = openCursors({ rows, sizes })
  const { listBySize } = createLists(db, 'acme/demo')
  expect(await Array.fromAsync(listBySize('rows', 'sizes'))).toEqual(rows)
  expect(ran.filter((sql) => sql.startsWith('FETCH'))).toEqual([
    'FETCH 500',
    'FETCH 3',
    'FETCH 1',
    'FETCH 1',
    'FETCH 2',
  ])
})

it('a list of rows with large texts has all of them, however many there are', async () => {
  const sizes = Array.from({ length: 1000 }, () => ({ bytes: 1 }))
  const rows = sizes.map((_, at) => ({ id: at }))
  const { db } = openCursors({ rows, sizes })
  const { listBySize } = createLists(db, 'acme/demo')
  expect(await Array.fromAsync(listBySize('rows', 'sizes'))).toEqual(rows)
})

it('the transaction of the lists begins with the first one', async () => {
  const { db, ran } = openCursors({ rows: [{ id: 1 }] })
  const { list } = createLists(db, 'acme/demo')
  expect(ran).toEqual([])
  await Array.fromAsync(list('rows', 5))
  await Array.fromAsync(list('rows', 5))
  expect(ran.filter((sql) => sql.startsWith('BEGIN'))).toHaveLength(1)
  expect(ran[0]).toMatch(/^BEGIN /)
})

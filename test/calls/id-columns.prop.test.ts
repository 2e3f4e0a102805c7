import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { idText, packedId } from '../../src/store/sqlite/calls/columns/id-columns.sql.ts'
import { packId } from '../../src/store/sqlite/calls/columns/id-columns.ts'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { codePoint } from '../support/code-point.ts'

const db = openDatabase(':memory:')
afterAll(() => void db.close())
db.exec('CREATE TABLE ids (id ANY) STRICT')
const insert = db.prepare('INSERT INTO ids (id) VALUES (?) RETURNING id').pluck()
const pack = db.prepare(`SELECT ${packedId('@id')}`).pluck()
const text = db.prepare(`SELECT ${idText('@id')}`).pluck()

const hex = fc.constantFrom(...'0123456789abcdef')
const digits = (length: number) => fc.string({ unit: hex, minLength: length, maxLength: length })
const usual = fc.oneof(fc.uuid(), digits(16), digits(32), digits(36))
/** Nearly usual ids: with another character, one in upper case, one too many, or a NUL. */
const almost = fc
  .tuple(usual, fc.nat(), fc.constantFrom('-', 'G', '\0', 'é', 'A', '', '00'))
  .map(([id, at, other]) => {
    const index = at % id.length
    return id.slice(0, index) + other + id.slice(index + 1)
  })
const anyId = fc.oneof(
  usual,
  almost,
  usual.map((id) => id.toUpperCase()),
  fc.uuid().map((id) => `{${id}}`),
  fc.string({ unit: codePoint, maxLength: 40 }).filter((id) => id.isWellFormed()),
)

describe('an id in its column', () => {
  it('comes back exactly as it was sent, whatever it is', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const stored = insert.get(packId(id))
        expect(text.get({ id: stored })).toBe(id)
      }),
      { numRuns: 2000 },
    )
  })

  it('is the same by the statement that looks for it', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        expect(pack.get({ id })).toEqual(packId(id))
        // A index in a list is handed on as it lies in the column.
        expect(pack.get({ id: packId(id) })).toEqual(packId(id))
      }),
      { numRuns: 2000 },
    )
  })

  it('takes half the room or less when it is a UUID, a trace or a span', () => {
    fc.assert(
      fc.property(usual, (id) => {
        const bytes = { 16: 8, 32: 17, 36: id.includes('-') ? 16 : 36 }[id.length]
        expect(Buffer.byteLength(packId(id))).toBe(bytes)
      }),
    )
  })
})

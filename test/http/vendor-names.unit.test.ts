import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseTolerantly } from '../../src/http/body/parsing.ts'
import { toNeutralNames, toVendorNames } from '../../src/http/body/vendor-names.ts'

describe('toNeutralNames', () => {
  it('keys are renamed at every depth outside of payloads', () => {
    expect(toNeutralNames({ filter: { wb_user_ids: ['u'] }, batch: [{ wb_run_id: 'r' }] })).toEqual(
      {
        filter: { svc_user_ids: ['u'] },
        batch: [{ svc_run_id: 'r' }],
      },
    )
  })

  it("field names and the first segment of paths are renamed, not users' names", () => {
    const query = {
      columns: ['wb_user_id', 'inputs.wb_user_id'],
      sort_by: [{ field: 'wb_run_id', direction: 'asc' }],
      fields: ['wb_user_id', 'payload.wb_user_id'],
      query: { $expr: { $eq: [{ $getField: 'wb_user_id' }, { $literal: 'wb_user_id' }] } },
    }
    expect(toNeutralNames(query)).toEqual({
      columns: ['svc_user_id', 'inputs.wb_user_id'],
      sort_by: [{ field: 'svc_run_id', direction: 'asc' }],
      fields: ['svc_user_id', 'payload.wb_user_id'],
      query: { $expr: { $eq: [{ $getField: 'svc_user_id' }, { $literal: 'wb_user_id' }] } },
    })
  })

  it.each([
    'val',
    'rows',
    'row',
    'payload',
    'inputs',
    'output',
    'summary',
    'attributes',
    '$literal',
  ])('names inside %s are not changed', (key) => {
    const body = { [key]: { wb_user_id: 1, list: [{ wb_run_id: 2 }] } }
    expect(toNeutralNames(body)).toEqual(body)
    expect(toVendorNames({ [key]: { svc_user_id: 1 } })).toEqual({ [key]: { svc_user_id: 1 } })
  })

  it('a key named like a prototype remains a key', () => {
    const body = JSON.parse('{"__proto__":{"wb_user_id":1}}')
    expect(JSON.stringify(toNeutralNames(body))).toBe('{"__proto__":{"svc_user_id":1}}')
  })
})

describe('toVendorNames', () => {
  it('feedback in a summary is renamed, not its payload', () => {
    const call = {
      svc_user_id: 'u',
      summary: {
        svc_user_id: 'mine',
        weave: { feedback: [{ svc_user_id: 'v', payload: { svc_user_id: 'mine' } }], a: 1 },
      },
    }
    expect(toVendorNames(call)).toEqual({
      wb_user_id: 'u',
      summary: {
        svc_user_id: 'mine',
        weave: { feedback: [{ wb_user_id: 'v', payload: { svc_user_id: 'mine' } }], a: 1 },
      },
    })
  })

  it('columns of a payload are not renamed', () => {
    const row = { svc_user_id: 'u', 'payload.svc_user_id': { svc_user_id: 1 } }
    expect(toVendorNames(row)).toEqual({
      wb_user_id: 'u',
      'payload.svc_user_id': { svc_user_id: 1 },
    })
  })
})

describe('parseTolerantly', () => {
  const Inner = z.strictObject({ a: z.number().optional() })
  const Schema = z.strictObject({
    list: z.array(Inner),
    either: z.union([z.strictObject({ kind: z.literal('x') }), Inner]).optional(),
  })

  it('unknown names are dropped at every depth, in lists and unions', () => {
    const data = { list: [{ a: 1, b: 2 }, { c: { d: 1 } }], either: { kind: 'x', y: 1 }, more: 1 }
    const { value } = parseTolerantly(Schema, data)
    expect(value).toEqual({ list: [{ a: 1 }, {}], either: { kind: 'x' } })
  })

  it('invalid values are refused, also beside unknown names', () => {
    const { error } = parseTolerantly(Schema, { list: [{ a: 'x', b: 1 }], more: 1 })
    expect(error?.problems.map(({ path }) => path)).toEqual(['list[0].a'])
  })
})

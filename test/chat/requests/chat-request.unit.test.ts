/** Every field of a chat request: what it takes and what it refuses, one row per field. */
import { describe, expect, it } from 'vitest'
import { ChatCompletionRequest } from '../../../src/schemas/chat/chat-request.ts'
import { INT64_BOUND } from '../../../src/schemas/chat/chat-sampling-fields.ts'
import { SPEC_FIELDS, type SpecField } from './chat-request-fields.ts'
import { many, messages, ROWS, SECRET, tool } from './chat-request-rows.ts'
// Sets the words of refusals that no schema has itself.
import '../../../src/schemas/problems.ts'

// With a schema that keeps unknown keys this would be `string`, and records need not cover all fields.
const hasClosedKeys: string extends keyof ChatCompletionRequest ? false : true = true
const hasSpecKeys: [keyof ChatCompletionRequest] extends [SpecField] ? true : false = true

/** The same value, which counts how many members of it and of what is inside are read. */
function countReads(value: unknown, seen: { reads: number }): unknown {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof key !== 'string' || key === 'length' || !Object.hasOwn(target, key)) return member
      seen.reads++
      return countReads(member, seen)
    },
  })
}

/** Entries of the longest list or object in a value. */
function longestOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const members = Object.values(value)
  return Math.max(members.length, ...[...new Set(members)].map(longestOf))
}

const parse = (body: unknown) => ChatCompletionRequest.safeParse(body)

function label(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'undefined')
  return text.length > 60 ? `${text.slice(0, 60)}... (${text.length})` : text
}

describe('the fields of a chat request', () => {
  it('are those of the spec, no more and no fewer', () => {
    expect(hasClosedKeys && hasSpecKeys).toBe(true)
    expect(Object.keys(ChatCompletionRequest.shape).toSorted()).toEqual(SPEC_FIELDS.toSorted())
    expect(Object.keys(ROWS).toSorted()).toEqual(SPEC_FIELDS.toSorted())
    expect(SPEC_FIELDS).toHaveLength(55)
  })

  describe.each(SPEC_FIELDS)('§4.3 %s', (field) => {
    const { accepts, rejects } = ROWS[field]

    it.each(accepts.map((value) => [label(value), value]))('takes %s', (_, value) => {
      const body = { messages, [field]: value }
      const result = parse(body)
      expect(result.error?.issues).toBeUndefined()
      expect(result.data).toEqual(body)
    })

    const named = (path?: string) => (path === undefined ? '' : `§4.3 ${field} ${path} of `)
    it.each(rejects.map(([value, path]) => [named(path) + label(value), value, path] as const))(
      'refuses %s',
      (_, value, path) => {
        const issues = parse({ messages, [field]: value }).error?.issues ?? []
        expect(issues).toHaveLength(1)
        const below = path === undefined ? '' : `.${path}`
        expect(issues[0]?.path.join('.')).toBe(`${field}${below}`)
        expect(issues[0]?.message).not.toContain(SECRET)
        expect(issues[0]?.message).toMatch(/^(?:is required and )?must .*[^.]$/)
      },
    )
  })
})

describe('a chat request', () => {
  it('may hold null in every optional field', () => {
    const optional = SPEC_FIELDS.filter((field) => field !== 'messages')
    const body = { messages, ...Object.fromEntries(optional.map((field) => [field, null])) }
    expect(parse(body).data).toEqual(body)
  })

  it('has no defaults filled in, so that absent and set fields stay distinct', () => {
    expect(parse({ messages }).data).toEqual({ messages })
  })

  it.each([
    ['§8 chat seed', 'seed', -INT64_BOUND, INT64_BOUND],
    ['§8 chat truncate_prompt_tokens', 'truncate_prompt_tokens', -1, INT64_BOUND],
  ])('holds %s to its range', (_, field, min, max) => {
    for (const value of [min, 0, max])
      expect(parse({ messages, [field]: value }).success).toBe(true)
    for (const value of [min - (min === -1 ? 1 : 2048), max + 2048]) {
      expect(parse({ messages, [field]: value }).success).toBe(false)
    }
  })

  it('keeps fields that it does not know, also inside of known ones', () => {
    const body = {
      messages: [{ role: 'user', content: 'Hello', more: 1 }],
      tools: [{ ...tool, more: 1 }],
      metadata: { a: 'b' },
      store: false,
      thinking_token_budget: 5,
    }
    expect(parse(body).data).toEqual(body)
  })

  it.each([null, [], 'text', 5, undefined])('is not %j', (body) => {
    const issues = parse(body).error?.issues
    expect(issues).toHaveLength(1)
    expect(issues?.[0]?.path).toEqual([])
  })

  it('echoes a refused number but no refused text', () => {
    const messageOf = (body: object) => parse({ messages, ...body }).error?.issues[0]?.message
    expect(messageOf({ temperature: 3 })).toContain('not 3')
    expect(messageOf({ temperature: SECRET })).not.toContain(SECRET)
  })

  it('reports ten faults of a list, then no more', () => {
    expect(parse({ messages: many(10, 5) }).error?.issues).toHaveLength(10)
    expect(parse({ messages: many(11, 5) }).error?.issues).toHaveLength(10)
  })

  const hostile = { role: SECRET.repeat(10), content: [5, { type: 7 }, null], tool_calls: SECRET }
  it.each([
    ['messages', many(10_000, hostile)],
    ['messages', many(10_000, { role: 'user', content: many(50, 5) })],
    ['messages', [{ role: 'user', content: many(10_000, { type: '' }) }]],
    ['messages', [{ role: 'assistant', tool_calls: many(512, SECRET) }]],
    ['stop_token_ids', many(100_000, SECRET)],
    ['documents', many(1_000, SECRET)],
    ['tools', many(512, { function: SECRET })],
    ['logit_bias', Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [at, SECRET]))],
    ['engine_xargs', { a: many(10_000, {}) }],
    ['engine_xargs', { [SECRET.repeat(1_000)]: {} }],
  ])('reports few faults and no text of a hostile %s', (field, value) => {
    const seen = { reads: 0 }
    const issues = parse({ messages, [field]: countReads(value, seen) }).error?.issues ?? []
    // Reads each entry of the longest list once, and a few members inside.
    expect(seen.reads).toBeLessThanOrEqual(longestOf(value) + 100)
    expect(issues.length).toBeGreaterThan(0)
    expect(issues.length).toBeLessThanOrEqual(10)
    expect(JSON.stringify(issues)).not.toContain(SECRET)
    expect(JSON.stringify(issues).length).toBeLessThan(20_000)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createSparseCheck } from '../../src/http/body/sparse-check.ts'
import { ChatMessage, isPlainMessage } from '../../src/schemas/chat/chat-message.ts'
import { ChatCompletionRequest } from '../../src/schemas/chat/chat-request.ts'

const check = createSparseCheck(ChatCompletionRequest)

const message = fc.record(
  {
    role: fc.constantFrom('user', 'assistant', 'system', 'wizard'),
    content: fc.oneof(fc.string(), fc.constant(null), fc.jsonValue({ maxDepth: 2 })),
    name: fc.string(),
  },
  { requiredKeys: [] },
)
const names = fc.constantFrom(...Object.keys(ChatCompletionRequest.shape), '__proto__', 'own')
const value = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, 1, 2, -1, 0.5, 'auto', 'low', [], {}),
  fc.jsonValue({ maxDepth: 3 }),
)
const body = fc
  .tuple(
    fc.oneof(fc.array(message, { maxLength: 3 }), fc.constant([{ role: 'user', content: 'Hi' }])),
    fc.array(fc.tuple(names, value), { maxLength: 4 }),
  )
  // Parsed from text, as bodies are, so that __proto__ is a key like any other.
  .map(([messages, entries]) => {
    const members = [['messages', messages] as const, ...entries]
    const text = members.map(([name, it]) => `${JSON.stringify(name)}:${JSON.stringify(it)}`)
    return JSON.parse(`{${text.join(',')}}`) as unknown
  })

describe('createSparseCheck', () => {
  it('accepts nothing that the schema refuses, and returns what the schema returns', () => {
    let takenCount = 0
    fc.assert(
      fc.property(body, (data) => {
        const taken = check?.(data) ?? null
        if (taken === null) return
        takenCount += 1
        expect(ChatCompletionRequest.safeParse(data)).toStrictEqual({ success: true, data: taken })
      }),
      { numRuns: 1_000 },
    )
    expect(takenCount).toBeGreaterThan(50)
  })

  it('takes ordinary requests, with keys that the schema does not know', () => {
    const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], n: null, own: [1] }
    expect(check?.(request)).toEqual(request)
  })

  it('caches few values of a field, and no invalid one', () => {
    const asked: unknown[] = []
    const text = z.string().refine((value) => asked.push(value) > 0 && value !== 'wrong')
    const own = createSparseCheck(z.looseObject({ a: text }))
    const long = 'x'.repeat(65)
    for (const a of ['ok', 'wrong', long, 'ok', 'wrong', long]) own?.({ a })
    expect(asked).toEqual(['ok', 'wrong', long, 'wrong', long])
    for (let at = 0; at < 100; at++) own?.({ a: `${at}` })
    asked.length = 0
    for (let at = 0; at < 100; at++) own?.({ a: `${at}` })
    expect(asked).toHaveLength(69)
  })

  it.each([
    ['a field is wrong', { messages: [{ role: 'user', content: 'Hi' }], n: 'two' }],
    ['a required field is missing', { model: 'm' }],
    ['__proto__ is a key', JSON.parse('{"messages":[],"__proto__":{}}')],
    ['there is no object', []],
  ])('leaves it to the schema when %s', (_case, data) => {
    expect(check?.(data)).toBeNull()
  })

  it.each([
    ['fields that are filled in', z.looseObject({ n: z.number().default(1) })],
    ['a rule over several fields', z.looseObject({ n: z.number() }).refine(() => false)],
    ['unknown keys that are refused', z.strictObject({ n: z.number() })],
    ['unknown keys that are dropped', z.object({ n: z.number() })],
    ['no object', z.array(z.number())],
  ])('is not made for a schema with %s', (_case, schema) => {
    expect(createSparseCheck(schema)).toBeNull()
  })
})

const nearlyPlain = fc.record({
  role: fc.constantFrom('user', 'assistant', 'system', 'tool', 'developer', 'function', ''),
  content: fc.string(),
})

describe('isPlainMessage', () => {
  it('lets only pass what the schema of messages lets pass', () => {
    let passedCount = 0
    fc.assert(
      fc.property(fc.oneof(message, nearlyPlain, value), (data) => {
        if (!isPlainMessage(data)) return
        passedCount += 1
        expect(ChatMessage.safeParse(data).success).toBe(true)
      }),
      { numRuns: 1_000 },
    )
    expect(passedCount).toBeGreaterThan(50)
  })

  it.each([null, 'user', [], {}, { role: 'user' }, { role: 'wizard', content: 'a' }])(
    'does not let %j pass',
    (data) => expect(isPlainMessage(data)).toBe(false),
  )
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DIALECTS } from '../../src/domain/otel/dialects/dialects.ts'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan } from './otel-fixtures.ts'

const PATHS = DIALECTS.flatMap(({ name: _, scopes: _scopes, ...fields }) =>
  Object.values(fields).flat(),
).flatMap((place) => {
  if (typeof place === 'string') return [place]
  return typeof place === 'object' && 'path' in place ? [place.path] : []
})

/** What libraries put around and into messages. */
const KEYS = [
  ...['role', 'content', 'parts', 'contents', 'type', 'text', 'tool_calls', 'message', 'prompt'],
  ...['messages', 'system', 'event.name', 'tool', 'function', 'arguments', 'image', 'output'],
]
const WORDS = [null, 1, '', 'user', 'text', 'tool_call', 'tool_result', 'gen_ai.choice', '[null]']

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...WORDS),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 4 }),
  ),
}))
const attribute = fc.oneof(
  value,
  value.map((each) => JSON.stringify(each)),
)
const key = fc
  .tuple(fc.constantFrom(...PATHS), fc.constantFrom('', '.0', '.0.content', '.0.message'))
  .map((parts) => parts.join(''))

const NAMES = ['gen_ai.choice', 'gen_ai.user.message', 'gen_ai.content.prompt', 'exception']
const event = fc.record({
  name: fc.constantFrom(...NAMES),
  time_unix_nano: fc.constant('1'),
  attributes: fc.dictionary(fc.constantFrom('gen_ai.prompt', ...KEYS), attribute),
})

it('a span is a call, whatever stands where a convention has something', () => {
  fc.assert(
    fc.property(
      fc.dictionary(key, attribute),
      fc.array(event, { maxLength: 2 }),
      (attributes, events) => {
        const { start, end } = toSpanCall(buildSpan({ attributes, events }), 'acme/demo')
        expect(JSON.stringify([start, end])).toContain('"acme/demo"')
      },
    ),
    { numRuns: 3000 },
  )
})

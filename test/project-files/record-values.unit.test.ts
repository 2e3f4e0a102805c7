import { expect, it } from 'vitest'
import { toCall } from '../../src/project-files/record-values.ts'

it.each([
  ['attributes', '[]'],
  ['inputs', '7'],
  ['summary', '"x"'],
  ['otel_dump', 'null'],
])('a call with %s of %s is refused, since they are objects', (name, text) => {
  const record = { id: 'c1', attributes: '{}', inputs: ' {"a":1}', summary: null, started_at: 1 }
  expect(toCall(record, 'acme/demo')).toMatchObject({ inputs_json: ' {"a":1}' })
  expect(() => toCall({ ...record, [name]: text }, 'acme/demo')).toThrow(
    `${name} of the call c1 must be an object`,
  )
})

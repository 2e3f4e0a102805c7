import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseReadableRef, type RefEdge, stepInto } from '../../src/domain/objects/readable-ref.ts'

const name = fc.stringMatching(/^[\w.-]{1,12}$/)
const edge: fc.Arbitrary<RefEdge> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('attr' as const, 'key' as const),
    value: fc.string({ unit: 'grapheme' }),
  }),
  fc.record({ kind: fc.constant('index' as const), value: fc.nat().map(String) }),
  fc.record({ kind: fc.constant('id' as const), value: name }),
)

function renderEdges(edges: readonly RefEdge[]): string {
  return edges.map(({ kind, value }) => `/${kind}/${encodeURIComponent(value)}`).join('')
}

it('parses every ref that is written, edges decoded', () => {
  fc.assert(
    fc.property(name, name, fc.array(edge, { maxLength: 6 }), (object_id, version, edges) => {
      const project_id = 'acme/demo'
      for (const kind of ['object', 'op']) {
        const text = `weave:///${project_id}/${kind}/${object_id}:${version}${renderEdges(edges)}`
        expect(parseReadableRef(text)).toEqual({
          project_id,
          target: { kind: 'object', object_id, version },
          edges,
        })
      }
      expect(parseReadableRef(`weave:///acme/demo/table/${version}${renderEdges(edges)}`)).toEqual({
        project_id,
        target: { kind: 'table', digest: version },
        edges,
      })
    }),
  )
})

it('reaches every value of a tree by its path, and null beside it', () => {
  const json = fc.jsonValue({ maxDepth: 4 })
  fc.assert(
    fc.property(json, fc.infiniteStream(fc.nat({ max: 5 })), (root, choices) => {
      let value: unknown = root
      let stepped: unknown = root
      while (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
        const entries = Object.entries(value)
        const [key, inner] = entries[(choices.next().value ?? 0) % entries.length] as [
          string,
          unknown,
        ]
        const kind = Array.isArray(value) ? 'index' : 'key'
        expect(stepInto(stepped, { kind, value: kind === 'index' ? '99' : `${key}?` })).toBe(
          kind === 'key' ? ((value as Record<string, unknown>)[`${key}?`] ?? null) : null,
        )
        stepped = stepInto(stepped, { kind, value: key })
        value = inner
        expect(stepped).toEqual(inner)
      }
    }),
  )
})

it.each(['', 'weave:///a/b', 'weave:///a/b/call/c', 'weave:///a/b/object/x', 'a/b/object/x:y'])(
  'takes %j for no ref that can be read',
  (text) => {
    expect(parseReadableRef(text)).toBeNull()
  },
)

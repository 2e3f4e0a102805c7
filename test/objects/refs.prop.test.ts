import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findRefs, type ParsedRef, parseRef } from '../../src/domain/objects/refs.ts'
import { ProjectId } from '../../src/schemas/primitives.ts'
import { isRefShape } from '../../src/schemas/shapes.ts'
import { codePoint } from '../support/code-point.ts'

const LETTERS = 'abzAZ019-_.~+ éß語😀'
const word = (more = '') =>
  fc
    .string({ unit: fc.constantFrom(...`${LETTERS}${more}`), minLength: 1, maxLength: 12 })
    .filter((text) => text.trim() === text)
const tight = (more = '') => word(more).filter((text) => !text.includes(' '))

const scheme = fc.stringMatching(/^[a-z][a-z0-9+.-]{0,8}$/)
const project_id = fc.tuple(word(), word()).map(([entity, project]) => `${entity}/${project}`)
const edges = fc.array(tight(':'), { maxLength: 3 }).map((steps) => steps.join('/'))

const objectOrOp: fc.Arbitrary<ParsedRef> = fc.record({
  scheme,
  project_id,
  kind: fc.constantFrom('object' as const, 'op' as const),
  name: tight(),
  digest: tight(),
  edges,
})
const call: fc.Arbitrary<ParsedRef> = fc.record({
  scheme,
  project_id,
  kind: fc.constant('call' as const),
  name: word(':'),
  digest: fc.constant(null),
  edges: fc.constant(''),
})

/** Texts that are nearly refs. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom('weave', ':///', '/', ':', 'object', 'op', 'call', 'a', ' ', '\n', '\0', '*'),
      fc.string({ maxLength: 3, unit: codePoint }),
    ),
    { maxLength: 14 },
  )
  .map((pieces) => pieces.join(''))

/** The text of a ref; the inverse of parseRef. */
function renderRef(ref: ParsedRef): string {
  const name = ref.digest === null ? ref.name : `${ref.name}:${ref.digest}`
  const edges = ref.edges === '' ? '' : `/${ref.edges}`
  return `${ref.scheme}:///${ref.project_id}/${ref.kind}/${name}${edges}`
}

describe('§2.1 object ref, §2.1 op ref and §2.1 call ref', () => {
  it('come back from their text as they were', () => {
    fc.assert(
      fc.property(fc.oneof(objectOrOp, call), (ref) => {
        expect(parseRef(renderRef(ref))).toEqual(ref)
      }),
    )
  })

  it('are of exactly one kind', () => {
    fc.assert(
      fc.property(fc.oneof(objectOrOp, call), (ref) => {
        const kinds = (['object', 'op', 'call'] as const).filter((kind) =>
          isRefShape(renderRef(ref), [kind]),
        )
        expect(kinds).toEqual([ref.kind])
      }),
    )
  })

  it('are found anywhere in a value', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.oneof(objectOrOp, call).map((ref) => renderRef({ ...ref, scheme: 'weave' })),
        ),
        (refs) => {
          const value = refs.reduce<unknown>(
            (inner, ref, at) => ({ [`k${at}`]: [ref, inner] }),
            null,
          )
          const found = findRefs(value, 'weave').map(({ ref }) => ref)
          expect(new Set(found)).toEqual(new Set(refs))
        },
      ),
    )
  })

  it('parse out of any text either to null or to what renders the same text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const ref = parseRef(text)
        if (ref === null) return
        expect(renderRef(ref)).toBe(text)
        expect(ProjectId.safeParse(ref.project_id).success).toBe(true)
        expect(text).not.toMatch(/[\n\0]/)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('§2.1 project_id', () => {
  it('is taken with any visible words, refused with more or fewer slashes', () => {
    fc.assert(
      fc.property(word(), word(), word(), (a, b, c) => {
        expect(ProjectId.safeParse(`${a}/${b}`).success).toBe(true)
        for (const text of [a, `${a}/${b}/${c}`, `/${a}`, `${a}/`, `${a}//${b}`]) {
          expect(ProjectId.safeParse(text).success).toBe(false)
        }
      }),
    )
  })
})

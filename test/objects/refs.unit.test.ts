import { describe, expect, it } from 'vitest'
import {
  findRefs,
  parseRef,
  REFS_PER_VALUE_MAX,
  wildcardPrefix,
} from '../../src/domain/objects/refs.ts'
import { ClientId, nameOf, ProjectId, refOf } from '../../src/schemas/primitives.ts'

const OBJECT = 'weave:///acme/demo/object/answer:v1'
const OP = 'weave:///acme/demo/op/predict:3f2a'
const CALL = 'weave:///acme/demo/call/0198-ab'

describe('§2.1 object ref', () => {
  it('parses into its parts', () => {
    expect(parseRef(OBJECT)).toEqual({
      scheme: 'weave',
      project_id: 'acme/demo',
      kind: 'object',
      name: 'answer',
      digest: 'v1',
      edges: '',
    })
  })

  it('may go on with edges', () => {
    expect(parseRef(`${OBJECT}/attr/rows/id/3`)).toMatchObject({
      name: 'answer',
      digest: 'v1',
      edges: 'attr/rows/id/3',
    })
  })

  it.each(['weft', 'w', 'x-a.b+c1'])('is read with the scheme %s', (scheme) => {
    expect(parseRef(OBJECT.replace('weave', scheme))).toMatchObject({ scheme })
  })
})

describe('§2.1 op ref', () => {
  it('parses into its parts', () => {
    expect(parseRef(OP)).toEqual({
      scheme: 'weave',
      project_id: 'acme/demo',
      kind: 'op',
      name: 'predict',
      digest: '3f2a',
      edges: '',
    })
  })
})

describe('§2.1 call ref', () => {
  it('parses into its parts; it has no digest', () => {
    expect(parseRef(CALL)).toEqual({
      scheme: 'weave',
      project_id: 'acme/demo',
      kind: 'call',
      name: '0198-ab',
      digest: null,
      edges: '',
    })
  })

  it('keeps the colons of an id', () => {
    expect(parseRef('weave:///acme/demo/call/a:b:c')).toMatchObject({ name: 'a:b:c', digest: null })
  })
})

describe('the kinds of refOf', () => {
  it.each([
    ['object', OBJECT],
    ['op', OP],
    ['call', CALL],
  ] as const)('takes its own kind only: %s', (kind, text) => {
    for (const other of [OBJECT, OP, CALL]) {
      expect(refOf(kind).safeParse(other).success).toBe(other === text)
    }
    expect(refOf('object', 'op', 'call').safeParse(text).success).toBe(true)
  })

  it('takes 2048 characters and no more', () => {
    const longest = OBJECT + 'x'.repeat(2048 - OBJECT.length)
    expect(refOf('object').safeParse(longest).success).toBe(true)
    expect(refOf('object').safeParse(`${longest}x`).success).toBe(false)
  })
})

describe('a text that is no ref', () => {
  it.each([
    ['nothing', ''],
    ['a word', 'answer'],
    ['two slashes', OBJECT.replace(':///', '://')],
    ['four slashes', OBJECT.replace(':///', ':////')],
    ['no scheme', OBJECT.replace('weave', '')],
    ['a scheme in upper case', OBJECT.replace('weave', 'Weave')],
    ['a scheme that begins with a digit', OBJECT.replace('weave', '1w')],
    ['space before', ` ${OBJECT}`],
    ['space after', `${OBJECT} `],
    ['a line break after', `${OBJECT}\n`],
    ['a line break inside', OBJECT.replace('answer', 'ans\nwer')],
    ['a null character', OBJECT.replace('answer', 'ans\0wer')],
    ['half a character', OBJECT.replace('answer', 'ans\ud800wer')],
    ['a character that turns the text around', OBJECT.replace('answer', 'ans\u202ewer')],
    ['no entity', OBJECT.replace('acme/', '')],
    ['an empty entity', OBJECT.replace('acme', '')],
    ['an empty project', OBJECT.replace('demo', '')],
    ['dots for a project', OBJECT.replace('acme/demo', 'acme/../demo')],
    ['an unknown kind', OBJECT.replace('object', 'table')],
    ['a kind in upper case', OBJECT.replace('object', 'Object')],
    ['no name', 'weave:///acme/demo/object/'],
    ['an empty name', 'weave:///acme/demo/object/:v1'],
    ['no digest', 'weave:///acme/demo/object/answer'],
    ['an empty digest', 'weave:///acme/demo/object/answer:'],
    ['two digests', 'weave:///acme/demo/object/answer:v1:v2'],
    ['an empty edge', `${OBJECT}//a`],
    ['a slash at the end', `${OBJECT}/`],
    ['a call without id', 'weave:///acme/demo/call/'],
    ['an escaped slash in a project', OBJECT.replace('demo', 'de%2Fmo')],
    ['a query in a project', OBJECT.replace('demo', 'de?mo')],
  ])('parses as null: %s', (_what, text) => {
    expect(parseRef(text)).toBeNull()
    expect(refOf('object', 'op', 'call').safeParse(text).success).toBe(false)
  })

  it('is recognized in linear time, whatever it repeats', () => {
    for (const piece of ['a', '/', ':', ' ', '/a', ':///', 'a:', 'a+']) {
      expect(parseRef(`weave:///${piece.repeat(200_000)}\n`)).toBeNull()
      expect(parseRef(piece.repeat(200_000))).toBeNull()
      expect(ProjectId.safeParse(`a/${piece.repeat(200_000)}`).success).toBe(false)
    }
  })
})

describe('§2.1 project_id', () => {
  it.each([
    'acme/demo',
    'a/b',
    'Ünïcode/プロジェクト',
    'a b/c d',
    'a.b-c_d/~e',
    `${'e'.repeat(128)}/${'p'.repeat(128)}`,
  ])('takes %s', (text) => {
    expect(ProjectId.safeParse(text).success).toBe(true)
  })

  it.each([
    '',
    'acme',
    '/',
    'acme/',
    '/demo',
    'a/b/c',
    ' a/b',
    'a/b ',
    'a /b',
    'a/b\n',
    'a\t/b',
    'a\\b/c',
    'a/b#c',
    'a/b?c',
    'a/b%20',
    'a:b/c',
    'a/b\u0000',
    'a/b\ud800',
    'a/\u200b',
    `${'e'.repeat(129)}/p`,
    `e/${'p'.repeat(129)}`,
  ])('refuses %j', (text) => {
    expect(ProjectId.safeParse(text).success).toBe(false)
  })
})

describe('ids and names', () => {
  it.each(['a', 'a b', '0', 'é/:?#', 'x'.repeat(128)])('ClientId takes %j', (text) => {
    expect(ClientId.safeParse(text).success).toBe(true)
  })

  it.each(['', ' ', 'a ', ' a', 'a\nb', 'a\0', '\ud800', 'x'.repeat(129)])(
    'ClientId refuses %j',
    (text) => {
      expect(ClientId.safeParse(text).success).toBe(false)
    },
  )

  it('nameOf takes 1 to max characters that a store can keep', () => {
    const name = nameOf(4)
    for (const text of ['a', 'abcd', ' a ', 'é😀']) expect(name.safeParse(text).success).toBe(true)
    for (const text of ['', 'abcde', 'a\0', 'a\u0085', 'a\ud800', '\udc00']) {
      expect(name.safeParse(text).success).toBe(false)
    }
  })
})

describe('findRefs', () => {
  const refsIn = (value: unknown) => findRefs(value, 'weave').map(({ ref }) => ref)

  it('finds each ref of a value once, at any depth', () => {
    const value = { a: OBJECT, b: [{ c: OP }, [OBJECT]], d: CALL, e: `see ${OP}`, f: 1, g: null }
    expect(refsIn(value).sort()).toEqual([CALL, OBJECT, OP].sort())
  })

  it('takes no keys and no texts over 2048 characters', () => {
    expect(findRefs({ [OBJECT]: 1, a: OBJECT + 'x'.repeat(2048) }, 'weave')).toEqual([])
  })

  it('takes no refs of another scheme', () => {
    expect(refsIn([OBJECT, OBJECT.replace('weave', 'other')])).toEqual([OBJECT])
    expect(findRefs([OBJECT], 'other')).toEqual([])
  })

  it('stops at its limit', () => {
    const refs = Array.from({ length: REFS_PER_VALUE_MAX + 5 }, (_, at) => `${OBJECT}${at}`)
    expect(refsIn(refs)).toHaveLength(REFS_PER_VALUE_MAX)
    expect(refsIn(Object.fromEntries(refs.entries()))).toHaveLength(REFS_PER_VALUE_MAX)
  })

  it('handles bodies of the maximum depth', () => {
    const deep = JSON.parse(`${'[{"a":'.repeat(20_000)}"${OBJECT}"${'}]'.repeat(20_000)}`)
    expect(refsIn(deep)).toEqual([OBJECT])
  })

  it.each([
    [OBJECT, '[]'],
    [{ a: OBJECT }, '["a"]'],
    [{ a: { 'b.c': OBJECT } }, '["a","b.c"]'],
    [{ a: { b: { c: { d: OBJECT } } } }, '["a","b","c","d"]'],
    [{ a: { b: { c: { d: { e: OBJECT } } } } }, null],
    [{ ['a'.repeat(200)]: OBJECT }, null],
    [{ a: [OBJECT] }, null],
    [{ a: [{ b: OBJECT }] }, null],
    [{ a: [OBJECT], b: OBJECT }, '["b"]'],
  ])('tells where a ref stands in %j', (value, path) => {
    expect(findRefs(value, 'weave')).toEqual([{ ref: OBJECT, path }])
  })

  it('keeps few paths of one value', () => {
    const refs = Array.from({ length: 100 }, (_, at) => `${OBJECT}${at}`)
    const found = findRefs(Object.fromEntries(refs.entries()), 'weave')
    expect(found.filter(({ path }) => path !== null)).toHaveLength(32)
  })
})

describe('wildcardPrefix', () => {
  it.each([
    [`${OBJECT.slice(0, -2)}*`, 'weave:///acme/demo/object/answer:'],
    ['predict:*', 'predict:'],
    [':*', ':'],
    ['predict:**', null],
    ['predict*', null],
    ['*', null],
    ['', null],
    [OBJECT, null],
  ])('of %s is %s', (pattern, prefix) => {
    expect(wildcardPrefix(pattern)).toBe(prefix)
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseRef, pathOfRef, refLabel } from '../../../src/page/parts/values/refs.ts'
import {
  parsePageRoute,
  parseServerView,
  pathTo,
  pathToVersion,
} from '../../../src/page/shell/page-route.ts'

describe('addresses of the page', () => {
  it.each([
    ['/', null],
    ['/acme', null],
    ['/acme/demo/weave', { project: 'acme/demo', view: 'home', subject: null }],
    ['/acme/demo/weave/calls', { project: 'acme/demo', view: 'calls', subject: null }],
    ['/acme/demo/weave/traces', { project: 'acme/demo', view: 'calls', subject: null }],
    ['/acme/demo/weave/calls/a%2Fb', { project: 'acme/demo', view: 'trace', subject: 'a/b' }],
    ['/acme/demo/r/call/01a2', { project: 'acme/demo', view: 'trace', subject: '01a2' }],
    ['/acme/demo/weave/playground', { project: 'acme/demo', view: 'playground', subject: null }],
    ['/acme/demo/weave/training', { project: 'acme/demo', view: 'training', subject: null }],
    ['/acme/demo/weave/training/new', { project: 'acme/demo', view: 'training', subject: 'new' }],
    ['/acme/demo/weave/objects', { project: 'acme/demo', view: 'objects', subject: null }],
    ['/acme/demo/weave/datasets/', { project: 'acme/demo', view: 'objects', subject: 'datasets' }],
    [
      '/acme/demo/weave/objects/a%20b/versions/x1',
      { project: 'acme/demo', view: 'object', subject: 'a b', version: 'x1' },
    ],
    [
      '/acme/demo/weave/ops/Model.predict',
      { project: 'acme/demo', view: 'object', subject: 'Model.predict', version: 'latest' },
    ],
    ['/acme/demo/weave/evaluations', { project: 'acme/demo', view: 'evaluations', subject: null }],
    ['/acme/demo/weave/evaluators/1', { project: 'acme/demo', view: 'evaluators', subject: '1' }],
    ['/acme/demo/weave/evaluations/1', { project: 'acme/demo', view: 'evaluation', subject: '1' }],
    [
      '/acme/demo/weave/evaluations/compare',
      { project: 'acme/demo', view: 'compare', subject: null },
    ],
    [
      '/acme/demo/weave/leaderboards/best',
      { project: 'acme/demo', view: 'leaderboard', subject: 'best' },
    ],
    ['/acme/demo/weave/', { project: 'acme/demo', view: 'home', subject: null }],
    [
      '/acme/demo/weave/constructor',
      { project: 'acme/demo', view: 'unknown', subject: 'weave/constructor' },
    ],
    ['/acme/demo/weave/none/1', { project: 'acme/demo', view: 'unknown', subject: 'weave/none/1' }],
    ['/acme/demo/r/object/1', { project: 'acme/demo', view: 'unknown', subject: 'r/object/1' }],
  ])('%s', (path, place) => {
    expect(parsePageRoute(path)).toEqual(place)
  })

  it('of the server have no project', () => {
    expect(['/keys', '/audit', '/models/', '/', '/acme/demo/weave'].map(parseServerView)).toEqual([
      ...['keys', 'audit', 'models', null, null],
    ])
    expect(parsePageRoute('/keys')).toBeNull()
  })

  it('parse back into their parts', () => {
    expect(parsePageRoute(pathTo('a b/c?d', 'calls', 'x/y#z'))).toEqual({
      project: 'a b/c?d',
      view: 'trace',
      subject: 'x/y#z',
    })
    expect(parsePageRoute(pathToVersion('a b/c?d', 'x/y', 'v1#', true))).toEqual({
      project: 'a b/c?d',
      view: 'object',
      subject: 'x/y',
      version: 'v1#',
    })
  })
})

describe('refs', () => {
  it.each([
    ['weave:///acme/demo/object/a:v1', '/acme/demo/weave/objects/a/versions/v1', 'a:v1'],
    [
      'weave:///acme/demo/op/M.f:0123456789',
      '/acme/demo/weave/ops/M.f/versions/0123456789',
      'M.f:012345',
    ],
    ['weave:///acme/demo/call/c-1', '/acme/demo/weave/calls/c-1', 'c-1'],
    [
      'weave:///acme/demo/object/d:x/attr/rows/id/abcdefghi',
      '/acme/demo/weave/objects/d/versions/x?row=abcdefghi',
      'd:x row abcdef',
    ],
    ['weave:///acme/demo/table/abc', null, 'abc'],
  ])('%s leads to %s', (text, path, words) => {
    const ref = parseRef(text)!
    expect([pathOfRef(ref), refLabel(ref)]).toEqual([path, words])
  })

  it.each([
    '',
    'weave:///acme/demo',
    'https://x.y/z',
    'a weave:///a/b/object/c:d',
    7,
    null,
    `weave:///a/b/object/${'c'.repeat(3000)}:d`,
  ])('%s is none', (value) => expect(parseRef(value)).toBeNull())
})

it('each key after g opens one view', () => {
  const source = readFileSync('src/page/frame/navigation.ts', 'utf8')
  const keys = [...source.matchAll(/ key: '(.)'/g)].map(([, key]) => key)
  expect(keys.length).toBeGreaterThan(15)
  expect(new Set(keys).size).toBe(keys.length)
})

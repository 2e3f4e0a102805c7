import { describe, expect, it } from 'vitest'
import { parsePlace, pathTo } from '../../src/page/shell/place.ts'

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
    ['/acme/demo/weave/unknown', { project: 'acme/demo', view: 'home', subject: null }],
  ])('%s', (path, place) => {
    expect(parsePlace(path)).toEqual(place)
  })

  it('lead back to what they were made of', () => {
    expect(parsePlace(pathTo('a b/c?d', 'calls', 'x/y#z'))).toEqual({
      ...{ project: 'a b/c?d', view: 'trace', subject: 'x/y#z' },
    })
  })
})

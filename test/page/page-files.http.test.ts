import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ICON_NAMES } from '../../src/page/parts/icon-names.ts'
import { buildTestApp } from '../support/build-test-app.ts'

/** Limit: compressed bytes of all that the first paint needs. */
const BYTES_MAX = 130_000

const IMPORTS = /\b(?:from|import)\s*["']([@\w./-]+)["']/g
/** Of views, which are read when they are opened. */
const LATER_IMPORTS = /\bimport\(\s*["']([@\w./-]+)["']/g
/** The view that most people see first. */
const FIRST_VIEW = 'home/home.ts'

async function readDocument(url = '/') {
  const { app } = await buildTestApp()
  const response = await app.inject({ url })
  return { app, response, html: response.body }
}

it.each([
  ['gzip', 'gzip'],
  ['br;q=1.0, GZIP;q=0.5', 'gzip'],
  ['gzip ; q=1', 'gzip'],
  ['gzip;q=0, identity', undefined],
  ['br, gzip; q=0.00', undefined],
  ['gzipped', undefined],
  ['identity', undefined],
])('the page for a client that takes %s is sent as %s', async (taken, sent) => {
  const { app } = await buildTestApp()
  const { headers } = await app.inject({ url: '/', headers: { 'accept-encoding': taken } })
  expect(headers['content-encoding']).toBe(sent)
})

describe('the page', () => {
  it.each([
    '/',
    '/acme/demo/weave',
    '/acme/demo/weave/',
    '/acme/demo/weave/calls/01a2',
    '/acme/demo/r/call/01a2',
  ])('stands at %s, without credentials', async (url) => {
    const { response, html } = await readDocument(url)
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(response.headers['www-authenticate']).toBeUndefined()
    expect(html).toContain('<div id="page">')
  })

  it('runs no script but its own, and asks nobody but its server', async () => {
    const { response, html } = await readDocument()
    const policy = String(response.headers['content-security-policy'])
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    const scripts = [...html.matchAll(/<script type="importmap">(.*?)<\/script>/g)]
    expect(scripts).toHaveLength(1)
    const hash = createHash('sha256').update(scripts[0]![1]!).digest('base64')
    expect(policy).toContain(`'sha256-${hash}'`)
    expect(
      [...html.matchAll(/(?:src|href)="([^"]*)"/g)].every(([, url]) => url!.startsWith('/assets/')),
    ).toBe(true)
  })

  it('serves all that it names, every import of it too, small and for ever', async () => {
    const { app, html } = await readDocument('/acme/demo/weave')
    const { imports } = JSON.parse(/importmap">(.*?)</.exec(html)![1]!) as {
      imports: Record<string, string>
    }
    const later = new Set<string>()

    /** The compressed bytes of files and of all that they import. */
    async function load(urls: readonly string[], seen: Set<string>): Promise<number> {
      const waiting = [...urls]
      let bytes = 0
      for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
        if (seen.has(url)) continue
        seen.add(url)
        const response = await app.inject({ url, headers: { 'accept-encoding': 'gzip' } })
        expect([url, response.statusCode]).toEqual([url, 200])
        expect(response.headers['cache-control']).toContain('immutable')
        expect(response.headers['x-content-type-options']).toBe('nosniff')
        bytes += response.rawPayload.length
        const text = gunzipSync(response.rawPayload).toString()
        if (!String(response.headers['content-type']).startsWith('text/javascript')) continue
        expect(text).not.toMatch(/^(?:interface|type) /m)
        const target = (name: string) =>
          imports[name] ??
          (name.startsWith('.') ? new URL(name, `http://page${url}`).pathname : `no ${name}`)
        for (const [, name] of text.matchAll(IMPORTS)) waiting.push(target(name!))
        for (const [, name] of text.matchAll(LATER_IMPORTS)) later.add(target(name!))
      }
      return bytes
    }

    const seen = new Set<string>()
    const shell = await load(
      [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url!),
      seen,
    )
    const first = [...later].filter((url) => url.endsWith(FIRST_VIEW))
    expect(first).toHaveLength(1)
    const bytes = shell + (await load(first, seen))
    expect(bytes).toBeGreaterThan(20_000)
    expect(bytes).toBeLessThan(BYTES_MAX)
    for (let size = -1; size !== later.size; ) {
      size = later.size
      await load([...later], seen)
    }
    expect(seen.size).toBeGreaterThan(50)
  })

  it.each([
    ['/', ['frame/projects.ts', 'home/first-trace.ts']],
    ['/acme/demo/weave', [FIRST_VIEW, 'parts/charts/chart.ts', 'lib/uplot.js']],
    ['/acme/demo/weave?range=7d', [FIRST_VIEW]],
    ['/acme/demo/weave/calls/01a2', ['trace/trace.ts', 'trace/read-trace.ts']],
    ['/acme/demo/weave/evaluations/compare?runs=a,b', ['evaluations/compare.ts']],
    ['/acme/demo/r/call/01a2', ['trace/trace.ts']],
    ['/keys', ['server/server-view.ts', 'server/keys.ts']],
  ])(
    'tells the browser at once of all that its entry and the view of %s need',
    async (url, view) => {
      const { html } = await readDocument(url)
      const preloads = [...html.matchAll(/rel="modulepreload" href="([^"]*)"/g)].map(
        ([, url]) => url,
      )
      for (const file of [
        'page-entry.ts',
        'shell/app.ts',
        'api/client.ts',
        'lib/preact.js',
        ...view,
      ])
        expect(preloads).toContainEqual(expect.stringMatching(`/${file}$`))
      if (!view.includes(FIRST_VIEW))
        expect(preloads).not.toContainEqual(expect.stringContaining(FIRST_VIEW))
      expect(new Set(preloads).size).toBe(preloads.length)
    },
  )

  it('sends its files as they are to those who take no gzip', async () => {
    const { app, html } = await readDocument()
    const url = /href="([^"]*page\.css)"/.exec(html)![1]!
    const response = await app.inject({ url })
    expect(response.headers['content-encoding']).toBeUndefined()
    expect(response.body).toContain('--ground')
  })

  it('joins the stylesheets into one: elements, then components, then views', async () => {
    const { app, html } = await readDocument()
    const { body } = await app.inject({ url: /href="([^"]*page\.css)"/.exec(html)![1]! })
    const places = ['\nbody {', '\nbutton,', '\n.u-legend {', '\n.menu {', '\n.row.call {'].map(
      (rule) => body.indexOf(rule),
    )
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  it('sends the outlines of the icons that it names, and of no others', async () => {
    const { app, html } = await readDocument()
    const url = /href="([^"]*page\.css)"/.exec(html)![1]!.replace('page.css', 'icons.svg')
    const { headers, body } = await app.inject({ url })
    expect(headers['content-type']).toBe('image/svg+xml')
    const names = [...body.matchAll(/<symbol id="([^"]+)" viewBox="0 0 24 24"><\w+ /g)]
    expect(names.map(([, name]) => name)).toEqual([...ICON_NAMES])
  })

  it('leads from addresses of views that cannot be decoded to those that can', async () => {
    const { app } = await readDocument()
    for (const [url, to] of [
      ['/acme/demo/weave/calls/%', '/acme/demo/weave/calls/%25'],
      ['/acme/demo/r/call/%E0%A4%A/b%20?call=%', '/acme/demo/r/call/%25E0%25A4%25A/b%20?call=%'],
    ] as const) {
      const { statusCode, headers } = await app.inject({ url })
      expect([url, statusCode, headers.location]).toEqual([url, 302, to])
      expect((await app.inject({ url: to })).headers['content-type']).toMatch(/html/)
    }
  })

  it.each([
    '//acme/demo/weave/calls/%',
    '/\\acme/demo/weave/calls/%',
    '/calls/%',
    '/assets/0000000000000000/page.css',
    '/assets/VERSION/../../package.json',
    '/assets/VERSION/%2e%2e/%2e%2e/package.json',
    '/assets/VERSION/no-file.ts',
    '/acme/demo/other',
  ])('has nothing at %s', async (path) => {
    const { app, html } = await readDocument()
    const version = /assets\/([0-9a-f]+)\//.exec(html)![1]!
    const response = await app.inject({ url: path.replace('VERSION', version) })
    expect(response.statusCode).toBe(404)
    expect(response.json().error.code).toBe('unknown_url')
  })
})

describe('GET /me', () => {
  it('names the caller, and of the projects with calls those that the key may use', async () => {
    const { get, post, createKey } = await buildTestApp()
    for (const project_id of ['acme/b', 'acme/a', 'other/c']) {
      const start = {
        project_id,
        op_name: 'op',
        started_at: '2026-01-31T12:00:00Z',
        attributes: {},
        inputs: {},
      }
      await post('/call/start', { start })
    }
    const all = await get('/me')
    expect(all.body).toMatchObject({
      svc_username: 'User One',
      project_patterns: ['*'],
      projects: ['acme/a', 'acme/b', 'other/c'],
    })
    const key = await createKey({ scopes: ['traces:read'], projects: ['acme/*'] })
    const some = await get('/me', { key })
    expect(some.body).toMatchObject({ scopes: ['traces:read'], projects: ['acme/a', 'acme/b'] })
  })

  it('names to a key that may not read only the projects that the key names, and refuses none', async () => {
    const { get, post, createKey } = await buildTestApp()
    const at = { op_name: 'op', started_at: '2026-01-31T12:00:00Z', attributes: {}, inputs: {} }
    await post('/call/start', { start: { project_id: 'acme/secret', ...at } })
    const key = await createKey({ scopes: ['inference'], projects: ['acme/*', 'acme/b'] })
    const { body } = await get('/me', { key })
    expect(body).toMatchObject({ scopes: ['inference'], projects: ['acme/b'] })
    expect((await get('/me', { key: null })).status).toBe(401)
  })
})

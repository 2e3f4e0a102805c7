import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { openDeps } from '../../src/deps.ts'
import { MISSING_FEATURES } from '../../src/routes/access/missing-endpoints.ts'
import { basic } from '../support/build-test-app.ts'

const KEY = 'wk_key_of_the_test_of_missing_routes'
/** What the Python SDK can ask; test/sdk/weave_endpoints.py holds it against the package. */
const PYTHON: string[] = JSON.parse(
  readFileSync(new URL('weave-endpoints.json', import.meta.url), 'utf8'),
)
const MISSING = MISSING_FEATURES.flatMap(({ endpoints }) => endpoints)

async function openLogged() {
  const config = { ...readConfig({}), dataDir: ':memory:', bootstrapKey: KEY, drainTimeoutMs: 50 }
  const deps = await openDeps(config)
  // biome-ignore lint/suspicious/noExplicitAny: lines of every shape.
  const lines: any[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const app = await buildApp(config, deps, { level: 'info', stream })
  onTestFinished(async () => {
    await app.close()
    await deps.close()
  })
  /** Asks for an endpoint below /traces with every parameter filled in. */
  async function ask(endpoint: string, key: string | null = KEY, payload = '{}') {
    const [method = '', path = ''] = endpoint.split(' ')
    const hasBody = method !== 'GET' && method !== 'DELETE'
    const response = await app.inject({
      method: method as 'GET',
      url: `/traces${path.replace(/\{\w+\}/g, 'x')}`,
      headers: {
        ...(key === null ? {} : { authorization: basic(key) }),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
      },
      ...(hasBody ? { payload } : {}),
    })
    return { status: response.statusCode, headers: response.headers, text: response.body }
  }
  return { ask, lines }
}

describe('what the SDKs can ask and Weft does not have', () => {
  it('is answered by name, and nothing that the table names is there', async () => {
    const { ask } = await openLogged()
    for (const { feature, reason, endpoints } of MISSING_FEATURES) {
      for (const endpoint of endpoints) {
        const { status, headers, text } = await ask(endpoint)
        expect([endpoint, status]).toEqual([endpoint, 501])
        expect(JSON.parse(text)).toEqual({
          error: {
            message: `Weft does not have ${feature}. ${reason}`,
            type: 'not_implemented_error',
            param: null,
            code: 'not_implemented',
          },
        })
        expect(headers['x-should-retry']).toBe('false')
      }
    }
  })

  it('lists everything that the Python SDK can request and Weft lacks', async () => {
    const { ask } = await openLogged()
    const lost = []
    for (const endpoint of PYTHON) {
      const { status, text } = await ask(endpoint)
      const isThere = status !== 405 && !text.includes('"unknown_url"')
      if (!isThere) lost.push(endpoint)
    }
    expect(lost).toEqual([])
    expect(MISSING.filter((endpoint) => !PYTHON.includes(endpoint))).toEqual([])
    expect(new Set(MISSING).size).toBe(MISSING.length)
  })

  it('has nothing that the npm SDK requests', () => {
    const entry = createRequire(import.meta.url).resolve('weave')
    const client = readFileSync(entry.replace(/index\.js$/, 'generated/traceServerApi.js'), 'utf8')
    const asked = [...client.matchAll(/path: `([^`]+)`,\s+method: ["'](\w+)["']/g)].map(
      ([, path = '', method]) => `${method} ${path.replace(/\$\{(\w+)\}/g, '{$1}')}`,
    )
    expect(asked.length).toBeGreaterThan(25)
    expect(asked.filter((endpoint) => MISSING.includes(endpoint))).toEqual([])
  })

  it('needs a key, reads no body and writes one line for each kind', async () => {
    const { ask, lines } = await openLogged()
    const [first] = MISSING_FEATURES
    const endpoint = first?.endpoints[0] ?? ''
    expect((await ask(endpoint, null)).status).toBe(401)
    expect((await ask(endpoint, 'wk_other')).status).toBe(401)
    for (let n = 0; n < 5; n++) expect((await ask(endpoint, KEY, '{no json')).status).toBe(501)
    expect(lines.filter(({ level }) => level >= 40)).toMatchObject([
      { level: 40, feature: first?.feature },
    ])
  })

  it('stands in docs/sdks.md with the reason', () => {
    const page = readFileSync('docs/sdks.md', 'utf8')
    const [, table = ''] = page.split(
      '| Weft does not have | because | endpoints |\n|---|---|---|\n',
    )
    const rows = table.slice(0, table.indexOf('\n\n')).split('\n')
    expect(rows).toEqual(
      MISSING_FEATURES.map(
        ({ feature, reason, endpoints }) =>
          `| ${feature} | ${reason} | ${endpoints.map((endpoint) => `\`${endpoint}\``).join(', ')} |`,
      ),
    )
  })
})

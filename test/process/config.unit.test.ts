import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readConfig, VARIABLE_DEFAULTS, VARIABLE_NAMES } from '../../src/config.ts'

const DEFAULTS: Readonly<Record<string, unknown>> = VARIABLE_DEFAULTS
const EXAMPLE = Object.fromEntries(
  readFileSync('.env.example', 'utf8')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => line.split('=', 2)),
)

describe('.env.example', () => {
  it('lists exactly the variables that are read, with their defaults', () => {
    const defaults = VARIABLE_NAMES.map((name) => [name, String(DEFAULTS[name] ?? '')])
    expect(EXAMPLE).toEqual(Object.fromEntries(defaults))
  })

  it('sets every variable to its default', () => {
    expect(readConfig(EXAMPLE)).toEqual(readConfig({}))
  })
})

describe('README.md', () => {
  it('lists every variable in its table', () => {
    const readme = readFileSync('README.md', 'utf8')
    const rows = [...readme.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm)]
    expect(rows.map(([, name]) => name)).toEqual(VARIABLE_NAMES)
    for (const [, name, shown] of rows) {
      const value = DEFAULTS[name ?? '']
      expect(shown).toBe(value === undefined ? '(none)' : `\`${value}\``)
    }
  })
})

describe('readConfig', () => {
  it('takes defaults for what is unset or empty and freezes the result', () => {
    const config = readConfig({ WEFT_PORT: '' })
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8080, dataDir: './data' })
    expect(Object.isFrozen(config)).toBe(true)
  })

  it('ignores variables of other programs', () => {
    expect(() => readConfig({ PORT: 'x', HOME: '/' })).not.toThrow()
  })

  it('knows whether the models file must exist', () => {
    expect(readConfig({}).modelsFileRequired).toBe(false)
    expect(readConfig({ WEFT_MODELS_FILE: './other.json' }).modelsFileRequired).toBe(true)
  })

  it('asks for the address of ClickHouse where it is used, and refuses it elsewhere', () => {
    const [store, url] = ['clickhouse', 'http://me:secret@a:8123/weft']
    expect(() => readConfig({ WEFT_STORE: store })).toThrow(/^WEFT_CLICKHOUSE_URL must be set$/)
    const config = readConfig({ WEFT_STORE: store, WEFT_CLICKHOUSE_URL: url })
    expect(config.clickhouse).toEqual({ url, cluster: null })
    expect(readConfig({}).clickhouse).toBeNull()
    const unused = /^WEFT_CLICKHOUSE_URL needs WEFT_STORE=clickhouse$/
    expect(() => readConfig({ WEFT_CLICKHOUSE_URL: url })).toThrow(unused)
  })

  it('accepts WEFT_META_URL only with calls in ClickHouse', () => {
    const shared = { WEFT_META_URL: 'postgres://me:secret@a/weft' }
    const clickhouse = { WEFT_STORE: 'clickhouse', WEFT_CLICKHOUSE_URL: 'http://a:8123/weft' }
    expect(() => readConfig(shared)).toThrow(/^WEFT_META_URL needs WEFT_STORE=clickhouse$/)
    expect(readConfig({ ...shared, ...clickhouse }).metaUrl).toBe(shared.WEFT_META_URL)
    expect(readConfig(clickhouse).metaUrl).toBeNull()
  })

  it('reads proxies from variables in either case, and has none without them', () => {
    expect(readConfig({}).proxies).toBeNull()
    expect(readConfig({ NO_PROXY: '*', HTTP_PROXY: '' }).proxies).toBeNull()
    const upper = { HTTP_PROXY: 'http://a:1', HTTPS_PROXY: 'b:2', NO_PROXY: 'c' }
    const proxies = { http: 'http://a:1', https: 'http://b:2', except: 'c' }
    expect(readConfig(upper).proxies).toEqual(proxies)
    const lower = { http_proxy: 'http://d', no_proxy: 'e' }
    expect(readConfig({ ...upper, ...lower }).proxies).toEqual({
      ...proxies,
      http: 'http://d',
      except: 'e',
    })
  })

  it.each([
    ['WEFT_PORT', '80a'],
    ['WEFT_PORT', '65536'],
    ['WEFT_PORT', '-1'],
    ['WEFT_PORT', '1e3'],
    ['WEFT_LOG_LEVEL', 'loud'],
    ['WEFT_STORE', 'postgres'],
    ['WEFT_CLICKHOUSE_URL', 'tcp://me:secret@a:9000'],
    ['WEFT_CLICKHOUSE_CLUSTER', "a' SETTINGS"],
    ['WEFT_META_URL', 'mysql://me:secret@a/weft'],
    ['WEFT_REF_SCHEME', 'we ave'],
    ['WEFT_BOOTSTRAP_KEY', 'short'],
    ['WEFT_BOOTSTRAP_KEY', 'a-key-of-a-file-of-windows\r'],
    ['WEFT_BOOTSTRAP_KEY', 'a key with spaces in it'],
    ['WEFT_BODY_BYTES_MAX', '0'],
    ['WEFT_DRAIN_TIMEOUT_MS', '10000'],
    ['WEFT_READ_THREADS', '0'],
    ['WEFT_PROT', '8080'],
    ['HTTP_PROXY', 'socks4://me:secret@a'],
    ['HTTPS_PROXY', 'a b'],
  ])('refuses %s=%s in one line that names it and not its value when secret', (name, value) => {
    const refuse = () => readConfig({ [name]: value })
    expect(refuse).toThrow(new RegExp(`^${name} [^\\n]+$`))
    if (name === 'WEFT_BOOTSTRAP_KEY') expect(refuse).not.toThrow(value)
  })
})

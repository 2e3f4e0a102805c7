import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, it, onTestFinished } from 'vitest'
import { MISSING_FEATURES } from '../../src/routes/access/missing-endpoints.ts'
import { describeServerOnEachStore } from '../store/clickhouse/describe-each-store.ts'
import { INHERITED } from '../support/inherited.ts'
import { spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const WORKS = 'works'
/** SDK to its subjects to their methods, each with what is true of it. */
type Methods = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>

const LIST: Methods = JSON.parse(
  readFileSync(new URL('weave-methods.json', import.meta.url), 'utf8'),
)
const PACKAGE = createRequire(import.meta.url)
  .resolve('weave')
  .replace(/index\.js$/, '')
const read = (file: string) => readFileSync(PACKAGE + file, 'utf8')

/** The public methods of the client, as the package declares them. */
function listClientMethods(): string[] {
  const [, declared = ''] = read('weaveClient.d.ts').split('export declare class WeaveClient {')
  const body = declared.slice(0, declared.indexOf('\n}'))
  return [...body.matchAll(/^ {4}(\w+)(?:<[^>]*>)?\(/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'constructor')
}

/** The methods of its low-level client, as `group.method`. */
function listApiMethods(): string[] {
  const groups = [
    ...read('generated/traceServerApi.js').matchAll(/this\.(\w+) = \{([\s\S]*?)\n {8}\};/g),
  ]
  return groups.flatMap(([, group, body = '']) =>
    [...body.matchAll(/^ {12}(\w+): \((?:data, )?params = \{\}\)/gm)].map(
      ([, name]) => `${group}.${name}`,
    ),
  )
}

async function runProgram(url: string, folder: string): Promise<Record<string, string[]>> {
  const program = 'test/sdk/weave-npm-methods/program.ts'
  const child = spawn(process.execPath, ['--import', './test/sdk/only-loopback.ts', program], {
    env: {
      ...INHERITED,
      HOME: folder,
      WANDB_API_KEY: TEST_KEY,
      WF_TRACE_SERVER_URL: `${url}/traces`,
      WANDB_BASE_URL: url,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  await once(child, 'close')
  expect([child.exitCode, errors]).toEqual([0, ''])
  return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '')
}

describeServerOnEachStore('the npm client', (openStore) => {
  it('every public method of the npm client works', async () => {
    const methods = { client: listClientMethods(), api: listApiMethods() }
    expect([methods.client.length, methods.api.length]).toEqual([17, 27])
    const folder = makeTempDir()
    const { settings, drop } = await openStore()
    onTestFinished(drop)
    const server = await spawnServer({ WEFT_DATA_DIR: folder, ...settings })
    const driven = await runProgram(server.url, folder)
    for (const [kind, names] of Object.entries(methods)) {
      expect([...(driven[kind] ?? [])].sort()).toEqual([...names].sort())
      expect(Object.keys(LIST.npm?.[kind] ?? {}).sort()).toEqual([...names].sort())
      expect(new Set(Object.values(LIST.npm?.[kind] ?? {}))).toEqual(new Set([WORKS]))
    }
  })
})

it('names for methods that do not work what the server does not have', () => {
  const known = [
    WORKS,
    'a fixed host of the vendor',
    ...MISSING_FEATURES.map(({ feature }) => feature),
  ]
  const states = Object.values(LIST).flatMap((subjects) =>
    Object.values(subjects).flatMap((methods) => Object.values(methods)),
  )
  expect(states.filter((state) => !known.includes(state))).toEqual([])
})

it('stands in docs/sdks.md, method by method', () => {
  const page = readFileSync('docs/sdks.md', 'utf8')
  const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')
  for (const subjects of Object.values(LIST)) {
    for (const [subject, methods] of Object.entries(subjects)) {
      const named = Object.entries(methods)
      const working = named.filter(([, state]) => state === WORKS).map(([name]) => name)
      const others = new Set(named.map(([, state]) => state).filter((state) => state !== WORKS))
      const refusals = [...others].map((other) => {
        const names = named.filter(([, state]) => state === other).map(([name]) => name)
        return `${code(names)}: ${other}`
      })
      expect(page).toContain(`| ${subject} | ${code(working)} | ${refusals.join('; ')} |`)
    }
  }
})

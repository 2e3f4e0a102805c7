/** Runs every example of the README and the docs in order, from the text of the page, against a real server. */
import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseModelsFile } from '../../src/inference/models/models-file.ts'
import { INHERITED } from '../support/inherited.ts'
import { type SpawnedServer, spawnServer, startServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { type Block, differences, findBlocks, parseAnswer, splitSteps } from './page-blocks.ts'

const PAGES = ['README.md', ...globSync('docs/*.md').sort()]
const PAGES_WITH_COMMANDS = PAGES.filter((page) => readFileSync(page, 'utf8').includes('```sh'))
const SHOWN_URL = 'http://127.0.0.1:8080'
const MARK = '@@answer@@'
const NOT_RUN = /^not run: (.+)$/
const ANSWER_OF_ABOVE = 'answer of the block above'

/** A folder that looks like the project's, in which examples may leave files. */
function makeWorkplace(): string {
  const folder = makeTempDir()
  for (const name of ['package.json', 'src', 'examples', 'node_modules', 'migrations']) {
    symlinkSync(join(process.cwd(), name), join(folder, name))
  }
  return folder
}

interface Told {
  readonly line: number
  readonly answer: string | null
}

/** All commands of a page as one script, and the documented answer of each step. */
function toScript(blocks: readonly Block[], url: string): { script: string; told: Told[] } {
  const told: Told[] = []
  const texts: string[] = []
  for (const { language, note, text, line } of blocks) {
    if (language === 'json' && note === ANSWER_OF_ABOVE)
      told[told.length - 1] = { line, answer: text }
    if (language !== 'sh' || NOT_RUN.test(note ?? '')) continue
    for (const { commands, answer } of splitSteps(text)) {
      told.push({ line, answer })
      texts.push(`echo '${MARK}'`, commands.replaceAll(SHOWN_URL, url).replace('wk_...', TEST_KEY))
    }
  }
  return { script: ['set -eu -o pipefail', `KEY=${TEST_KEY}`, ...texts].join('\n'), told }
}

const run = promisify(execFile)

/** The pages whose answers count what a project has. */
const COUNTING = ['docs/training.md']
const start = (dataDir: string, begin: typeof spawnServer) =>
  begin({ WEFT_DATA_DIR: dataDir, WEFT_TRAINER: 'on' })

/** One server for the other pages, as an operator has one. */
const sharedDir = mkdtempSync(join(tmpdir(), 'weft-test-'))
let shared: SpawnedServer
beforeAll(async () => {
  shared = await start(sharedDir, startServer)
})
afterAll(async () => {
  await shared.stop('SIGKILL')
  rmSync(sharedDir, { recursive: true, force: true })
})

it.each(PAGES_WITH_COMMANDS)(
  'the examples of %s run as they stand, and answer what stands below them',
  async (page) => {
    const isCounting = COUNTING.includes(page)
    const dataDir = isCounting ? makeTempDir() : sharedDir
    const server = isCounting ? await start(dataDir, spawnServer) : shared
    const { script, told } = toScript(findBlocks(readFileSync(page, 'utf8')), server.url)
    const environment = { ...INHERITED, HOME: dataDir, WEFT_DATA_DIR: dataDir }
    const { stdout } = await run('bash', ['-c', script], {
      cwd: makeWorkplace(),
      env: { ...environment, npm_config_update_notifier: 'false' },
    })
    const answers = stdout.split(`${MARK}\n`).slice(1)
    expect(answers).toHaveLength(told.length)
    const wrong = told.flatMap(({ line, answer }, at) => {
      if (answer === null) return []
      const real: unknown = JSON.parse(answers[at] ?? '')
      return differences(parseAnswer(answer), real).map((text) => `${page}:${line} ${text}`)
    })
    expect(wrong).toEqual([])
  },
)

it.each(PAGES)('the JSON of %s can be read, and its models are those of a models file', (page) => {
  for (const { language, note, text, line } of findBlocks(readFileSync(page, 'utf8'))) {
    if (language !== 'json') continue
    const value = parseAnswer(text) as { models?: unknown }
    if (note !== ANSWER_OF_ABOVE && value.models !== undefined) {
      expect(parseModelsFile(text, `${basename(page)}:${line}`).length).toBeGreaterThan(0)
    }
  }
})

it('examples that are not run say why, and are few', () => {
  const left = PAGES.flatMap((page) =>
    findBlocks(readFileSync(page, 'utf8')).flatMap(({ language, note, line }) => {
      const reason = NOT_RUN.exec(note ?? '')?.[1]
      const isRun = language === 'sh' || language === 'json'
      return reason !== undefined || !isRun ? [{ page, line, reason: reason ?? null }] : []
    }),
  )
  expect(left.filter(({ reason }) => reason === null)).toEqual([])
  // Of these, six of the page for operators change the machine that they run on.
  expect(left.length).toBeLessThanOrEqual(24)
})

it('a page whose answer went stale is noticed', () => {
  const told = parseAnswer('{"id": "a", "step": 1, "list": [...], "n": {"x": 1,...}}')
  expect(differences(told, { id: 'b', step: 1, list: [1], n: { x: 1, y: 2 } })).toEqual([])
  expect(differences(told, { id: 'b', step: 2, list: [], n: {}, more: 1 })).toEqual([
    '.more is not told',
    '.step is 2, not 1',
    '.n.x is missing',
  ])
})

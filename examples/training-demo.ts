/**
 * Record, rate, train, serve: starts a server of its own in a temporary folder and teaches the embedded
 * model to name an owl when it is asked for an animal. The model is a toy; the loop is the real one.
 *
 * npm run demo:training
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Round, runTrainingLoop } from './training-loop.ts'

const KEY = `wk_demo_${crypto.randomUUID()}`
const JOBS = 6
const BAR_CELLS = 40

const dataDir = mkdtempSync(join(tmpdir(), 'weft-demo-'))
const server = spawn(
  process.execPath,
  [fileURLToPath(new URL('../src/server.ts', import.meta.url))],
  {
    env: {
      WEFT_PORT: '0',
      WEFT_DATA_DIR: dataDir,
      WEFT_BOOTSTRAP_KEY: KEY,
      WEFT_MODELS_FILE: '',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
process.once('exit', () => {
  server.kill()
  rmSync(dataDir, { recursive: true, force: true })
})
process.once('SIGINT', () => process.exit(130))

/** The address that the server tells in its log. */
function readUrl(): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: server.stdout }).on('line', (line) => {
      const match = /listening at (http:\/\/[^"]+)"/.exec(line)
      if (match?.[1]) resolve(match[1])
    })
    server.once('exit', () => reject(new Error('the server did not start')))
  })
}

function showRound({ model, meanReward, answers }: Round): void {
  const filled = Math.round(meanReward * BAR_CELLS)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled)
  const sample = (answers[0] ?? '').replaceAll('\n', ' ').slice(0, 40)
  console.log(`${model.padEnd(12)} ${bar} ${meanReward.toFixed(2)}  ${sample}`)
}

const question = 'Name an animal.'
console.log(`Question: ${question} Reward: 1 when the answer names an owl.\n`)
const begun = performance.now()
const rounds = await runTrainingLoop({
  url: await readUrl(),
  key: KEY,
  project: 'demo/owls',
  name: 'owl',
  question,
  reward: (answer) => (answer.includes('owl') ? 1 : 0),
  jobs: JOBS,
  rollouts: 16,
  learningRate: 3e-3,
  onRound: showRound,
})
const seconds = ((performance.now() - begun) / 1000).toFixed(1)
const [first, last] = [rounds[0], rounds.at(-1)]
console.log(
  `\nMean reward ${first?.meanReward.toFixed(2)} -> ${last?.meanReward.toFixed(2)} in ${JOBS} jobs, ${seconds} s.`,
)
process.exit(0)

/**
 * Record, rate, train, serve: starts a server of its own in a temporary folder and teaches the embedded
 * model to name an owl when it is asked for an animal. The model is a toy; the loop is the real one.
 *
 * npm run demo:training
 */
import { startOwnServer } from '../src/demo/own-server.ts'
import { type Round, runTrainingLoop } from '../src/demo/training-loop.ts'
import { readArguments } from './script-arguments.ts'

const JOBS = 6
const BAR_CELLS = 40

function showRound({ model, meanReward, answers }: Round): void {
  const filled = Math.round(meanReward * BAR_CELLS)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled)
  const sample = (answers[0] ?? '').replaceAll('\n', ' ').slice(0, 40)
  console.log(`${model.padEnd(12)} ${bar} ${meanReward.toFixed(2)}  ${sample}`)
}

readArguments({})
const question = 'Name an animal.'
console.log(`Question: ${question} Reward: 1 when the answer names an owl.\n`)
const begun = performance.now()
const { url, key } = await startOwnServer()
const rounds = await runTrainingLoop({
  url,
  key,
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

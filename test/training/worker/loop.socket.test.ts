/** The whole loop in a real server: chats recorded and rated, made into jobs, trained, served. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runTrainingLoop, type TrainingLoop } from '../../../src/demo/training-loop.ts'
import { type SpawnedServer, startServer, TEST_KEY } from '../../support/spawn-server.ts'

const ROLLOUTS = 16
const JOBS = 5

const dataDir = mkdtempSync(join(tmpdir(), 'weft-test-'))
let server: SpawnedServer
beforeAll(async () => {
  server = await startServer({ WEFT_DATA_DIR: dataDir, WEFT_TRAINER: 'on' })
})
afterAll(async () => {
  await server.stop('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

/** Mean rewards of fresh answers by step, and the names that answered. */
async function learn(name: string, changes: Partial<TrainingLoop> = {}) {
  const rounds = await runTrainingLoop({
    url: server.url,
    key: TEST_KEY,
    project: 'acme/demo',
    name,
    question: 'Name an animal.',
    reward: (answer) => (answer.includes('owl') ? 1 : 0),
    jobs: JOBS,
    rollouts: ROLLOUTS,
    learningRate: 3e-3,
    ...changes,
  })
  return {
    rewards: rounds.map(({ meanReward }) => meanReward),
    models: rounds.map(({ model }) => model),
  }
}

/** Deals the rewards out to other answers. */
const shuffle = (rewards: readonly number[]): number[] =>
  rewards.map((_, i) => rewards[(i * 5 + 3) % rewards.length]!)

describe('the training loop', () => {
  it('raises the reward of fresh answers to above 0.9 of what is possible', async () => {
    const { rewards, models } = await learn('owl')
    expect(models).toEqual(Array.from({ length: JOBS + 1 }, (_, step) => `owl:step${step}`))
    expect(rewards[0]).toBeLessThan(0.4)
    expect(rewards.at(-1)).toBeGreaterThan(0.9)
  })

  it('does not raise the reward when rewards belong to other answers', async () => {
    const { rewards } = await learn('shuffled', { judge: shuffle, jobs: 3 })
    expect(Math.max(...rewards)).toBeLessThan(0.6)
  })
})

/** That training teaches: the shipped model, its own samples, a reward that it can raise. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { meanOf } from '../../../src/domain/training/advantages.ts'
import { resolveTrainingConfig } from '../../../src/domain/training/resolve-training-config.ts'
import { TINY_MODEL_PATH } from '../../../src/inference/tiny/backend.ts'
import { mergeAdapter } from '../../../src/inference/tiny/lora/adapter.ts'
import { readArtifact } from '../../../src/inference/tiny/lora/artifact.ts'
import { createKvCache } from '../../../src/inference/tiny/model/kv-cache.ts'
import { loadModel, type Model } from '../../../src/inference/tiny/model/model.ts'
import { createTransformer } from '../../../src/inference/tiny/model/transformer.ts'
import { createRandom } from '../../../src/inference/tiny/sampling/random.ts'
import { createChatPrompt } from '../../../src/inference/tiny/text/chat-prompt.ts'
import { createTokenizer } from '../../../src/inference/tiny/text/tokenizer.ts'
import { createJobTrainer } from '../../../src/training/worker/train-job.ts'
import { groupOf, type Rollout } from '../worker/training-fixtures.ts'

const model = loadModel(readFileSync(TINY_MODEL_PATH))
const tokenizer = createTokenizer(model.vocabulary)
const QUESTION = 'Name an animal.'
const PROMPT = createChatPrompt(model.chatTemplate, tokenizer, model.shape.context).encode({
  messages: [{ role: 'user', content: QUESTION }],
  tools: null,
  documents: null,
  variables: {},
  addGenerationPrompt: true,
  continueFinalMessage: false,
  addSpecialTokens: true,
  template: null,
  tokensKept: null,
})
const ROLLOUTS = 16
const ANSWER_TOKENS = 5
const JOBS = 5

/** Answers drawn at temperature 1, rewarded where they name the owl. */
function rollOut(policy: Model, seed: number): Rollout[] {
  const transformer = createTransformer(policy)
  const prompt = createKvCache(model.shape)
  const [[first]] = transformer.run([{ ids: PROMPT, cache: prompt, wants: 'last' }]) as [
    [Float32Array],
  ]
  const caches = Array.from({ length: ROLLOUTS }, () => prompt.fork())
  const answers = caches.map(() => ({ ids: [] as number[], logprobs: [] as number[] }))
  const randoms = caches.map((_, i) => createRandom(BigInt(seed), i))
  const start = first.slice()
  const known = caches.map(() => start)
  for (let step = 0; step < ANSWER_TOKENS; step++) {
    for (const [i, answer] of answers.entries()) {
      if (model.vocabulary.endIds.includes(answer.ids.at(-1) ?? -1)) continue
      const logits = Float64Array.from(known[i]!)
      const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0)
      let rest = randoms[i]!.next() * total
      const id = logits.findIndex((logit) => {
        rest -= Math.exp(logit)
        return rest < 0
      })
      answer.ids.push(id)
      answer.logprobs.push(logits[id]! - Math.log(total))
      const part = { ids: [id], cache: caches[i]!, wants: 'last' as const }
      known[i] = transformer.run([part])[0]![0]!.slice()
    }
  }
  return answers.map(({ ids, logprobs }) => {
    const text = Buffer.concat(ids.map((id) => tokenizer.bytesOf(id))).toString()
    return { ids, logprobs, reward: text.includes('owl') ? 1 : 0 }
  })
}

/** Trains a chain of jobs on fresh answers; the mean reward before each job and after the last. */
async function learn(judge: (rollouts: readonly Rollout[]) => Rollout[]): Promise<number[]> {
  const trainer = createJobTrainer(model, 'tiny')
  const config = resolveTrainingConfig({ learning_rate: 3e-3 })
  const hooks = { onStart: () => {}, onStep: () => {}, pause: async () => {} }
  const curve: number[] = []
  let policy = model
  let parent: Uint8Array | null = null
  for (let job = 0; job <= JOBS; job++) {
    const rollouts = rollOut(policy, job)
    curve.push(meanOf(rollouts.map(({ reward }) => reward)))
    if (job === JOBS) break
    const groups = [groupOf(QUESTION, judge(rollouts))]
    const { artifact } = await trainer.train({ groups, config, parent }, hooks)
    if (artifact === null) continue
    parent = artifact
    policy = mergeAdapter(model, readArtifact(artifact, model.shape).adapter)
  }
  return curve
}

describe('training', () => {
  it('training raises the mean reward of fresh completions from near chance to above 0.9', async () => {
    const curve = await learn((rollouts) => [...rollouts])
    expect(curve[0]).toBeLessThan(0.4)
    expect(curve.at(-1)).toBeGreaterThan(0.9)
  })

  it('training on shuffled rewards does not raise the reward', async () => {
    const curve = await learn((rollouts) =>
      rollouts.map((rollout, i) => ({
        ...rollout,
        reward: rollouts[(i * 5 + 3) % rollouts.length]!.reward,
      })),
    )
    expect(Math.max(...curve)).toBeLessThan(0.6)
  })
})

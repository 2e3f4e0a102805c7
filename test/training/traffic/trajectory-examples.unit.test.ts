import { describe, expect, it } from 'vitest'
import { renderTaskExamples } from '../../../src/domain/training/traffic/trajectory-examples.ts'

const rollout = (reward: number, content = 'Ho') => ({
  reward,
  messages_and_choices: [
    { role: 'user', content: 'Hi' },
    { finish_reason: 'stop', index: 0, logprobs: null, message: { role: 'assistant', content } },
  ],
})

describe('renderTaskExamples', () => {
  it('shows the first 20 groups', () => {
    const groups = Array.from({ length: 21 }, (_, at) => ({ trajectories: [rollout(at)] }))
    const shown = renderTaskExamples(groups).map(({ highest_reward }) => highest_reward)
    expect(shown).toEqual(Array.from({ length: 20 }, (_, at) => at))
  })

  it('shows the best 8 rollouts of a group, and its rewards over all', () => {
    const trajectories = Array.from({ length: 9 }, (_, at) => rollout(at))
    const [shown] = renderTaskExamples([{ trajectories }])
    expect(shown).toMatchObject({ trajectories: 9, lowest_reward: 0, mean_reward: 4 })
    expect(shown?.rollouts.map(({ reward }) => reward)).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
  })

  it('cuts long texts', () => {
    const [shown] = renderTaskExamples([{ trajectories: [rollout(1, 'o'.repeat(3000))] }])
    expect(shown?.prompt).toBe('[{"role":"user","content":"Hi"}]')
    expect(shown?.rollouts[0]?.response).toMatch(/^\{"role":"assistant","content":"o+…$/)
    expect(shown?.rollouts[0]?.response).toHaveLength(2001)
  })
})

import { describe, expect, it } from 'vitest'
import { countTrajectories } from '../../../src/domain/training/trajectory-counts.ts'
import { CHOICE } from '../preview-fixtures.ts'

const SAID = { role: 'assistant', content: 'said by someone' }
const trajectory = (items: object[], histories?: object[][]) => ({
  messages_and_choices: items as Record<string, unknown>[],
  reward: 0,
  ...(histories && {
    additional_histories: histories.map((history) => ({
      messages_and_choices: history as Record<string, unknown>[],
    })),
  }),
})

describe('countTrajectories', () => {
  it('counts a trajectory as trainable for a choice, not for an assistant message', () => {
    const trajectories = [
      trajectory([]),
      trajectory([SAID]),
      trajectory([SAID, CHOICE]),
      trajectory([SAID], [[SAID], [SAID, CHOICE]]),
      trajectory([], [[SAID], []]),
    ]
    expect(countTrajectories([{ trajectories }, { trajectories: [] }])).toEqual({
      group_count: 2,
      trajectory_count: 5,
      trainable_count: 2,
      oldest_policy_version: null,
    })
  })

  it.each([
    [[3, 0, 2], 0],
    [[7, null, undefined], 7],
    [[null, undefined], null],
  ])('takes the least of the policy versions %j', (versions, oldest) => {
    const trajectories = versions.map((initial_policy_version) => ({
      ...trajectory([CHOICE]),
      initial_policy_version,
    }))
    expect(countTrajectories([{ trajectories }]).oldest_policy_version).toBe(oldest)
  })

  it('counts a hundred thousand trajectories of one group', () => {
    const trajectories = Array.from({ length: 100_000 }, () => trajectory([CHOICE]))
    const groups = Array.from({ length: 2 }, () => ({ trajectories }))
    expect(countTrajectories(groups).trainable_count).toBe(200_000)
  })
})

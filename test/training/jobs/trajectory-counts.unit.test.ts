import { describe, expect, it } from 'vitest'
import {
  countTrajectories,
  oldestVersionOf,
} from '../../../src/domain/training/trajectory-counts.ts'
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
      policy_versions: new Map(),
    })
  })

  it('counts a choice of an exchange, and groups and trajectories without fields', () => {
    const chat_completions = [{ request: { messages: [] }, response: { choices: [CHOICE] } }]
    const groups = [{ trajectories: [{ exchanges: { chat_completions } }, {}] }, {}]
    expect(countTrajectories(groups as never)).toMatchObject({
      group_count: 2,
      trajectory_count: 2,
      trainable_count: 1,
    })
  })

  it.each([
    [[3, 0, 2], 0],
    [[7, null, undefined], 7],
    [[null, undefined], null],
  ])('the oldest version of %j is counted', (versions, oldest) => {
    const trajectories = versions.map((initial_policy_version) => ({
      ...trajectory([CHOICE]),
      initial_policy_version,
    }))
    const { policy_versions } = countTrajectories([{ trajectories }])
    expect(oldestVersionOf('owl', policy_versions)).toBe(oldest)
  })

  it('policy versions of another model are ignored', () => {
    const versionOf = (models: Record<string, number>) => {
      const trajectories = Object.entries(models).map(([model, initial_policy_version]) => ({
        ...trajectory([CHOICE]),
        initial_policy_version,
        metadata: { model },
      }))
      return oldestVersionOf('owl', countTrajectories([{ trajectories }]).policy_versions)
    }
    expect(versionOf({ 'owl:step4': 4, 'fox:step2': 2, 'weave:///acme/demo/owl:step3': 3 })).toBe(3)
    expect(versionOf({ 'fox:step2': 2 })).toBeNull()
    // A client's own note, which names no step.
    expect(versionOf({ fox: 2 })).toBe(2)
  })

  it('counts a hundred thousand trajectories of one group', () => {
    const trajectories = Array.from({ length: 100_000 }, () => trajectory([CHOICE]))
    const groups = Array.from({ length: 2 }, () => ({ trajectories }))
    expect(countTrajectories(groups).trainable_count).toBe(200_000)
  })
})

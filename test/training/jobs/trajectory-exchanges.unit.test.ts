/** Trajectories as published clients send them: without defaults, and with exchanges. */
import { describe, expect, it } from 'vitest'
import { toProblems } from '../../../src/schemas/problems.ts'
import { TrainingJobCreateRequest } from '../../../src/schemas/training/training-job.ts'
import { CHOICE, jobOf, TRAJECTORY, UNKNOWN_ID } from '../preview-fixtures.ts'

const IN_TRAJECTORY = 'trajectory_groups[0].trajectories[0]'

/** Paths of what the schema finds wrong in groups; they come from JSON, so undefined is absent. */
function faultsOf(trajectory_groups: unknown): string[] {
  const parsed = JSON.parse(JSON.stringify({ ...jobOf(UNKNOWN_ID), trajectory_groups }))
  const result = TrainingJobCreateRequest.safeParse(parsed)
  return result.success ? [] : toProblems(result.error.issues, parsed).map(({ path }) => path)
}

describe('a field that a published client leaves out because it has its default', () => {
  it.each([
    ['reward', undefined],
    ['messages_and_choices', undefined],
  ])('a trajectory may omit a field that has its default: %s', (field, value) => {
    expect(faultsOf([{ trajectories: [{ ...TRAJECTORY, [field]: value }] }])).toEqual([])
  })

  it('a trajectory or a group may omit all its fields', () => {
    expect(faultsOf([{ trajectories: [{}] }, {}])).toEqual([])
  })
})

describe('the exchanges of a trajectory', () => {
  const exchange = (model: string) => ({
    start_time: '2026-01-02T03:04:05Z',
    request: { model, messages: [{ role: 'user', content: 'hi' }], logprobs: true },
    response: { model, choices: [CHOICE], prompt_token_ids: [1, 2], usage: null },
    model,
  })
  const faultsOfExchanges = (exchanges: unknown, changes: object = {}) =>
    faultsOf([{ trajectories: [{ exchanges, ...changes }] }])

  it('exchanges are accepted without messages_and_choices', () => {
    const chat_completions = [exchange('owl'), exchange('owl')]
    const others = { completions: [], responses: [], messages: [] }
    expect(faultsOfExchanges({ chat_completions, ...others })).toEqual([])
    expect(faultsOfExchanges({})).toEqual([])
  })

  const IN_CHATS = `${IN_TRAJECTORY}.exchanges.chat_completions`
  it.each<[unknown, string]>([
    [null, `${IN_TRAJECTORY}.exchanges`],
    [{ chat_completions: {} }, IN_CHATS],
    [{ chat_completions: [{}] }, `${IN_CHATS}[0].request`],
    [{ chat_completions: [null] }, `${IN_CHATS}[0]`],
    [{ chat_completions: [{ request: null, response: {} }] }, `${IN_CHATS}[0].request`],
    [{ chat_completions: [exchange('owl'), exchange('judge')] }, IN_CHATS],
    [{ responses: [{}] }, `${IN_TRAJECTORY}.exchanges.responses`],
    [{ messages: [{}] }, `${IN_TRAJECTORY}.exchanges.messages`],
    [{ completions: [{}] }, `${IN_TRAJECTORY}.exchanges.completions`],
  ])('exchanges are refused as %.80j', (exchanges, path) => {
    expect(faultsOfExchanges(exchanges)[0]).toBe(path)
  })

  it.each([
    [{ messages_and_choices: [CHOICE] }],
    [{ additional_histories: [{ messages_and_choices: [] }] }],
    [{ tools: [] }],
  ])('exchanges are refused together with %.40j', (changes) => {
    const faults = faultsOfExchanges({ chat_completions: [exchange('owl')] }, changes)
    expect(faults).toEqual([`${IN_TRAJECTORY}.exchanges`])
  })
})

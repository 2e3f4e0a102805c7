import { describe, expect, it } from 'vitest'
import { chooseArm } from '../../src/domain/models/served-alias.ts'

const ALIAS = {
  project_id: 'acme/demo',
  name: 'helper',
  target: 'owl:step1',
  candidate: 'owl:step2',
  candidate_percent: 100,
  earlier_json: '[]',
  updated_at_us: 1,
}

describe('chooseArm', () => {
  it.each([
    ['an end user', { model: 'helper', messages: [], user: 'ada' }],
    ['messages', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['contents without a role', { contents: [{ parts: [{ text: 'Hi' }] }] }],
    ['a text', { prompt: 'Hi' }],
  ])('gives the candidate its share of requests with %s', (_, body) => {
    const { alias, arm, model } = chooseArm(ALIAS, body)
    expect([alias, arm, model]).toEqual(['helper', 'candidate', 'owl:step2'])
    expect(chooseArm({ ...ALIAS, candidate_percent: 0 }, body).arm).toBe('target')
  })

  it.each([undefined, null, { model: 'helper' }, { messages: null }])(
    'gives the target to a request by which nothing can be chosen: %j',
    (body) => {
      expect(chooseArm(ALIAS, body)).toMatchObject({ arm: 'target', model: 'owl:step1' })
    },
  )
})

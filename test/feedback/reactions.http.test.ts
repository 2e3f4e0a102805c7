import { describe, expect, it } from 'vitest'
import { emojiAlias } from '../../src/domain/feedback/emoji-alias.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { FEEDBACK } from './feedback-fixtures.ts'

describe('emojiAlias', () => {
  it.each([
    ['👍', ':thumbs_up:', '👍', ':thumbs_up:'],
    ['👍🏿', ':thumbs_up_dark_skin_tone:', '👍', ':thumbs_up:'],
    ['\u2764', ':red_heart:', '\u2764\uFE0F', ':red_heart:'],
    ['\u270C\u{1F3FD}', ':victory_hand_medium_skin_tone:', '\u270C\uFE0F', ':victory_hand:'],
    ['👨🏼‍🦰', ':man_medium-light_skin_tone_red_hair:', '👨‍🦰', ':man_red_hair:'],
    ['🏃🏻‍♀️', ':woman_running_light_skin_tone:', '🏃‍♀️', ':woman_running:'],
    [
      '👨🏿‍❤️‍👨🏿',
      ':couple_with_heart_man_man_dark_skin_tone:',
      '👨‍❤️‍👨',
      ':couple_with_heart_man_man:',
    ],
    [
      '👩🏻‍🤝‍👨🏿',
      ':woman_and_man_holding_hands_light_skin_tone_dark_skin_tone:',
      '👫',
      ':woman_and_man_holding_hands:',
    ],
    ['🇩🇪', ':Germany:', '🇩🇪', ':Germany:'],
    ['1\u20E3', ':keycap_1:', '1\uFE0F\u20E3', ':keycap_1:'],
  ])('names %s', (emoji, alias, detoned, detoned_alias) => {
    expect(emojiAlias(emoji)).toEqual({ alias, detoned, detoned_alias })
  })

  it('names an emoji that has no name by itself', () => {
    expect(emojiAlias('🪠🪠').alias).toBe('🪠🪠')
  })
})

it('reactions are stored and answered with the names of their emoji', async () => {
  const { post } = await buildTestApp()
  const reaction = {
    ...FEEDBACK,
    feedback_type: 'wandb.reaction.1',
    payload: { emoji: '👍🏿', a: 1 },
  }
  const payload = {
    emoji: '👍🏿',
    a: 1,
    alias: ':thumbs_up_dark_skin_tone:',
    detoned: '👍',
    detoned_alias: ':thumbs_up:',
  }
  const sent = { ...reaction, id: 'r' }
  expect((await post('/feedback/create', sent)).body.payload).toEqual(payload)
  expect((await post('/feedback/create', sent)).status).toBe(200)
  const fields = ['payload.detoned']
  const { body } = await post('/feedback/query', { project_id: FEEDBACK.project_id, fields })
  expect(body.result).toEqual([{ 'payload.detoned': '👍' }])
  const other = await post('/feedback/create', { ...reaction, feedback_type: 'free' })
  expect(other.body.payload).toEqual(reaction.payload)
})

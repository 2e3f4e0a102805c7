import { describe, expect, it } from 'vitest'
import { isOneEmoji } from '../../src/domain/feedback/emoji.ts'

describe('isOneEmoji', () => {
  it.each([
    ['a face', '😀'],
    ['a flag', '🇩🇪'],
    ['a flag of tags', '\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}'],
    ['a skin tone', '👍🏽'],
    ['a skin tone on a text symbol', '\u261D\u{1F3FD}'],
    ['a family', '👨‍👩‍👧‍👦'],
    ['a heart', '\u2764\uFE0F'],
    ['a heart without its selector', '\u2764'],
    ['a keycap', '1\uFE0F\u20E3'],
    ['a keycap without its selector', '1\u20E3'],
    ['a rainbow flag without its selector', '\u{1F3F3}\u200D\u{1F308}'],
    ['a couple without its selector', '\u{1F469}\u200D\u2764\u200D\u{1F468}'],
    ['a running woman without its selector', '\u{1F3C3}\u200D\u2640'],
  ])('takes %s', (_what, text) => {
    expect(isOneEmoji(text)).toBe(true)
  })

  it.each([
    ['nothing', ''],
    ['a letter', 'a'],
    ['a digit', '1'],
    ['a digit with a selector', '1\uFE0F'],
    ['a shortcode', ':smile:'],
    ['two', '😀😀'],
    ['one and a space', '😀 '],
    ['one and a letter', 'a😀'],
    ['one with an accent', '😀\u0301'],
    ['half a flag', '🇩'],
    ['half a character', '\ud83d'],
    ['a selector alone', '\uFE0F'],
    ['a joiner at the end', '😀\u200D'],
    ['unrelated faces joined', '😀\u200D😀'],
    ['very many', '😀'.repeat(100_000)],
  ])('refuses %s', (_what, text) => {
    expect(isOneEmoji(text)).toBe(false)
  })
})

/** Names of emoji, as `:thumbs_up:`, and emoji without their skin tones. Pure. */
import { EMOJI_NAMES } from './emoji-names.ts'

const VARIATION_SELECTOR = '\uFE0F'
const TONES: ReadonlyMap<string, string> = new Map([
  ['\u{1F3FB}', 'light_skin_tone'],
  ['\u{1F3FC}', 'medium-light_skin_tone'],
  ['\u{1F3FD}', 'medium_skin_tone'],
  ['\u{1F3FE}', 'medium-dark_skin_tone'],
  ['\u{1F3FF}', 'dark_skin_tone'],
])

/** Sequences of two people with tones, and the emoji that they are without. */
const PAIRS: Readonly<Record<string, string>> = {
  '🫱‍🫲': '🤝',
  '👩‍🤝‍👩': '👭',
  '👩‍🤝‍👨': '👫',
  '👨‍🤝‍👨': '👬',
  '🧑‍❤‍💋‍🧑': '💏',
  '🧑‍❤‍🧑': '💑',
  '🧑‍🐰‍🧑': '👯',
  '👨‍🐰‍👨': '👯‍♂',
  '👩‍🐰‍👩': '👯‍♀',
  '🧑‍🫯‍🧑': '🤼',
  '👨‍🫯‍👨': '🤼‍♂',
  '👩‍🫯‍👩': '🤼‍♀',
}

/** Names in which the tone precedes the hair. */
const WITH_HAIR = /^(.*)_(red_hair|curly_hair|white_hair|bald|beard|blond_hair)$/

/** Names by emoji without variation selectors, which some keyboards leave out. */
const NAMES: ReadonlyMap<string, { readonly emoji: string; readonly name: string }> = new Map(
  Array.from(EMOJI_NAMES.matchAll(/(\S+) (\S+)/g), ([, emoji = '', name = '']) => [
    withoutSelectors(emoji),
    { emoji, name },
  ]),
)

interface EmojiAlias {
  /** `:thumbs_up_dark_skin_tone:`; the emoji itself when it has no name here. */
  readonly alias: string
  /** The emoji without skin tones. */
  readonly detoned: string
  readonly detoned_alias: string
}

/**
 * Returns the name that Weave gives an emoji.
 *
 * @param emoji - a text for which isOneEmoji is true
 */
export function emojiAlias(emoji: string): EmojiAlias {
  const characters = [...withoutSelectors(emoji)]
  const tones = characters.flatMap((character) => TONES.get(character) ?? [])
  const bare = characters.filter((character) => !TONES.has(character)).join('')
  const known = NAMES.get((tones.length > 0 && PAIRS[bare]) || bare)
  if (!known) return { alias: emoji, detoned: emoji, detoned_alias: emoji }
  return {
    alias: `:${withTone(known.name, [...new Set(tones)].join('_'))}:`,
    detoned: known.emoji,
    detoned_alias: `:${known.name}:`,
  }
}

function withoutSelectors(text: string): string {
  return text.replaceAll(VARIATION_SELECTOR, '')
}

function withTone(name: string, tone: string): string {
  if (tone === '') return name
  const [, person, hair] = WITH_HAIR.exec(name) ?? []
  return person === undefined ? `${name}_${tone}` : `${person}_${tone}_${hair}`
}

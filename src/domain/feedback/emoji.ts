/** Recognizes a text that is one emoji. Pure. */

/** Limit: UTF-16 units of the longest emoji sequences, doubled. */
const EMOJI_LENGTH_MAX = 64
const PICTURE_OR_TEXT = /^\p{Emoji}$/u
const ALWAYS_PICTURE = /^(?:\p{Emoji_Presentation}|\p{Emoji_Modifier}|\p{Regional_Indicator})$/u
const MODIFIER = /^\p{Emoji_Modifier}$/u
const VARIATION_SELECTOR = '\uFE0F'

/** True for exactly one emoji of Unicode's list, also when its variation selectors are missing. */
export function isOneEmoji(text: string): boolean {
  if (text.length > EMOJI_LENGTH_MAX) return false
  return isListed(text) || isListed(qualify(text))
}

/** The pattern is no constant of the module: to build it takes 17 ms, of each thread that stores feedback. */
function isListed(text: string): boolean {
  return /^\p{RGI_Emoji}$/v.test(text)
}

/** Puts the variation selectors where the fully qualified form has them: some keyboards leave them out. */
function qualify(text: string): string {
  const characters = [...text.replaceAll(VARIATION_SELECTOR, '')]
  return characters
    .map((character, at) => {
      const isPicture = !PICTURE_OR_TEXT.test(character) || ALWAYS_PICTURE.test(character)
      const isModified = MODIFIER.test(characters[at + 1] ?? '')
      return isPicture || isModified ? character : character + VARIATION_SELECTOR
    })
    .join('')
}

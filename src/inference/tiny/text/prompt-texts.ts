/**
 * The texts in the input of a chat template: messages, tools, documents and the client's variables. A client's text
 * must never become a control token: this marks the texts so that it cannot.
 */
import { refuse } from '../../../errors.ts'

/** Characters that no text needs; those that a conversation does not use can mark places in it. */
const MARKS_FROM = 0xe000
const MARKS_TO = 0xf8ff
const LEVELS_MAX = 32

/** All texts of a value, keys of objects too. @throws ApiError invalid_value when it is too deep */
export function textsOf(value: unknown): string[] {
  const texts: string[] = []
  mapTexts(value, (text) => {
    texts.push(text)
    return text
  })
  return texts
}

/**
 * A copy with every text changed, keys of objects too.
 *
 * @throws ApiError invalid_value when it is nested too deep
 */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  return mapLevel(value, change, 0) as T
}

function mapLevel(value: unknown, change: (text: string) => string, level: number): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (level > LEVELS_MAX) {
    const message = `What the template gets is nested more than ${LEVELS_MAX} levels deep.`
    refuse('invalid_value', 'messages', message)
  }
  if (Array.isArray(value)) return value.map((item) => mapLevel(item, change, level + 1))
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([key, item]) => [change(key), mapLevel(item, change, level + 1)]),
  )
}

/**
 * Two characters that occur in none of the texts, so that they can be taken out again.
 *
 * @throws ApiError invalid_value when the texts use nearly all of them
 */
export function findMarks(texts: readonly string[]): readonly [string, string] {
  const used = new Set(texts.flatMap((text) => text.match(/[\ue000-\uf8ff]/gu) ?? []))
  const free: string[] = []
  for (let code = MARKS_FROM; code <= MARKS_TO && free.length < 2; code++) {
    const mark = String.fromCodePoint(code)
    if (!used.has(mark)) free.push(mark)
  }
  const [first, second] = free
  if (first !== undefined && second !== undefined) return [first, second]
  refuse('invalid_value', 'messages', 'The prompt uses every private-use character.')
}

/** Where a control text begins, or could begin if the template's text went on. */
export function openingsOf(controlTexts: readonly string[]): RegExp {
  const choices = controlTexts.map((text) => {
    const [first = '', second = ''] = Array.from(text, escapeRegExp)
    return `${first}(?=${second}|$)`
  })
  return new RegExp(`(?<first>${[...new Set(choices)].join('|')})`, 'gu')
}

/** The text as a pattern that matches it alone. */
export function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/gu, '\\$&')
}

/** Parses and prints a search of calls, such as `status:error model:gpt* latency>2s "any words"`. Pure. */
import {
  acceptedOf,
  canonicalValue,
  type Operator,
  operatorsOf,
  SEARCH_KEYS,
  type SearchKey,
  searchKeyOf,
} from './search-keys.ts'

/** One condition of a search; all of them must hold. */
export interface Condition {
  /** Name of a key, or a path inside a body. */
  readonly key: string
  readonly operator: Operator
  /** Any of them; at least one, each written in its canonical way. */
  readonly values: readonly string[]
  /** Whether calls that match are left out. */
  readonly isNot: boolean
}

interface ParsedSearch {
  readonly conditions: readonly Condition[]
  /** A sentence for each part that was not understood and is left out. */
  readonly problems: readonly string[]
}

/** Limit: conditions of a search, and values of one. */
const CONDITIONS_MAX = 30
const VALUES_MAX = 200

const SPACE = /\s*/y
const KEY = /(-?)([\p{L}_$][\p{L}\p{N}_$.@-]*)(:|>=|<=|>|<|=)/uy
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy
const WORD = /[^\s",]+/y
const BARE_WORD = /[^\s]+/y

/** Reads a text from left to right. */
function openReader(text: string) {
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match !== null) at = pattern.lastIndex
    return match
  }
  return {
    take,
    isNext: (char: string) => text[at] === char,
    skip: () => {
      at += 1
    },
    isAtEnd: () => at >= text.length,
  }
}

type Reader = ReturnType<typeof openReader>

/** A part that cannot be understood. */
class SearchProblem extends Error {
  override readonly name = 'SearchProblem'
}

export function parseSearch(text: string): ParsedSearch {
  const reader = openReader(text)
  const conditions: Condition[] = []
  const problems: string[] = []
  for (reader.take(SPACE); !reader.isAtEnd(); reader.take(SPACE)) {
    try {
      const condition = readCondition(reader)
      requireRoom(conditions, condition)
      conditions.push(condition)
    } catch (error) {
      if (!(error instanceof SearchProblem)) throw error
      problems.push(error.message)
    }
  }
  return { conditions, problems }
}

function requireRoom(conditions: readonly Condition[], { key }: Condition): void {
  if (conditions.length >= CONDITIONS_MAX)
    throw new SearchProblem(`A search has at most ${CONDITIONS_MAX} conditions.`)
  if (searchKeyOf(key)?.isSingle && conditions.some((other) => other.key === key))
    throw new SearchProblem(`${key} can be given only once; several values are joined by commas.`)
}

function readCondition(reader: Reader): Condition {
  const match = reader.take(KEY)
  if (match === null) return readBareText(reader)
  const [, minus, name = '', operator] = match
  const key = searchKeyOf(name) ?? searchKeyOf(name.toLowerCase())
  const texts = readValues(reader)
  if (key === null) throw new SearchProblem(unknownKeyText(name))
  return conditionOf(key, operator as Operator, texts, minus === '-')
}

/** @throws SearchProblem for a value or an operator that the key does not take */
function conditionOf(
  key: SearchKey,
  operator: Operator,
  texts: readonly string[],
  isNot: boolean,
): Condition {
  const allowed = operatorsOf(key)
  if (!allowed.includes(operator))
    throw new SearchProblem(`${key.name} takes ${allowed.join(' ')}, as in ${key.example}.`)
  const accepted = `${key.name}${operator} needs ${acceptedOf(key, operator)}`
  if (texts.length === 0) throw new SearchProblem(`${accepted}.`)
  if (texts.length > 1 && operator !== ':' && operator !== '=')
    throw new SearchProblem(`${key.name}${operator} takes one value.`)
  if (key.isSingle && isNot) throw new SearchProblem(`${key.name} cannot be excluded.`)
  const values = texts.map((text) => {
    const value = canonicalValue(key, operator, text)
    if (value === null) throw new SearchProblem(`${accepted}, not “${text}”.`)
    return value
  })
  return { key: key.name, operator, values: [...new Set(values)], isNot }
}

/** @returns the values after an operator: words and quoted texts, joined by commas; without empty ones */
function readValues(reader: Reader): string[] {
  const values: string[] = []
  for (;;) {
    const value = reader.isNext('"') ? readQuoted(reader) : (reader.take(WORD)?.[0] ?? '')
    if (value !== '') values.push(value)
    if (values.length > VALUES_MAX)
      throw new SearchProblem(`A condition has at most ${VALUES_MAX} values.`)
    // A quotation mark inside of a word.
    if (reader.isNext('"')) continue
    if (!reader.isNext(',')) return values
    reader.skip()
  }
}

function readBareText(reader: Reader): Condition {
  const isNot = reader.take(/-(?=\S)/y) !== null
  const value = reader.isNext('"') ? readQuoted(reader) : (reader.take(BARE_WORD)?.[0] ?? '')
  if (value === '') throw new SearchProblem('There is no text between the quotation marks.')
  return { key: 'text', operator: ':', values: [value], isNot }
}

function readQuoted(reader: Reader): string {
  const [, inside] = reader.take(QUOTED) ?? []
  if (inside !== undefined) return inside.replace(/\\(.)/gs, '$1')
  // Nothing after it can be told apart from the text.
  reader.take(/[\s\S]*/y)
  throw new SearchProblem('A quotation mark is not closed: texts are written "like this".')
}

function unknownKeyText(name: string): string {
  const names = SEARCH_KEYS.map((key) => key.name).join(', ')
  return `There is no key “${name}”. There are ${names}, and paths such as inputs.question. A text with such a sign is put in quotation marks.`
}

/** Prints conditions so that parsing returns the same ones. */
export function printSearch(conditions: readonly Condition[]): string {
  return conditions.map(printCondition).join(' ')
}

/** One condition as it is written in a search. */
export function printCondition({ key, operator, values, isNot }: Condition): string {
  const sign = isNot ? '-' : ''
  const [first = ''] = values
  if (key === 'text' && values.length === 1) return `${sign}${printBareText(first)}`
  return `${sign}${key}${operator}${values.map(printValue).join(',')}`
}

const quoted = (text: string) => `"${text.replace(/[\\"]/g, '\\$&')}"`

/** A value as it is written behind an operator. */
export function printValue(text: string): string {
  return /[\s",]/.test(text) ? quoted(text) : text
}

/** A word that would be read as something else is quoted. */
function printBareText(text: string): string {
  return /^[^\s"\-:<>=][^\s":<>=]*$/.test(text) ? text : quoted(text)
}

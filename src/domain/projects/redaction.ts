/**
 * Matches what a project does not want to be stored, and replaces it by a mark. Pure. No pattern here takes more time than
 * in proportion to the text: the own ones are bounded, those of users run in an engine without backtracking.
 */
import { RE2JS } from 're2js'
import { parseObject } from '../json/json-values.ts'

/** What Weft finds without patterns of users. */
export const REDACTION_KINDS = ['email', 'card', 'phone', 'key'] as const
type RedactionKind = (typeof REDACTION_KINDS)[number]

/** What is redacted in the data of a project. */
export interface Redaction {
  readonly kinds: readonly RedactionKind[]
  /** Expressions of RE2, each with the name in its mark. */
  readonly patterns: readonly { readonly name: string; readonly pattern: string }[]
}

/** How often each kind was redacted. */
export type RedactedCounts = Record<string, number>

/** Redacts texts by compiled rules. */
export interface Redactor {
  /** Returns the text with a mark such as `[redacted:email]` for each match, which is counted. */
  redactText(text: string, counts: RedactedCounts): string
  /** Returns JSON text in which all texts are redacted, names of members included, and numbers that are cards. */
  redactJson(json: string, counts: RedactedCounts): string
}

const EMAIL =
  /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,8}\.\p{L}{2,24}/gu
/** Digits and separators, of which some may be a card. A repeated group would take stack for each repetition. */
const DIGITS = /\d[\d -]{12}[\d -]*/g
const GAP = /([ -][ -]+)/
const NUMBER = /(?<![\w.+-])\d{13,19}(?![\w.])/g
/** Brands of cards by the first digits, so that times and ids are seldom taken for one. */
const CARD = /^(?:4|5[1-5]|2[2-7]|3[47]|3[068]|6)/
const PHONE =
  /(?<![\w+.-])(?:\+\d{1,3}[ .-]?(?:\(0\)[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{1,5}(?:[ .-]?\d{2,5}){1,4}|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}[ .-]\d{3}[ .-]\d{4})(?![\w-])/g
const KEY =
  /(?<![A-Za-z0-9])(?:(?:sk|pk|rk|wk|ghp|gho|ghs|ghu|glpat|hf|xai|gsk|npm|pypi|xox[abeprs])[-_][A-Za-z0-9_-]{16,200}|github_pat_[A-Za-z0-9_]{20,200}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,60}|eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,2000})|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s]{0,8000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g

/** Replaces matches; `isPossible` is a cheap check that is false only where there is none. */
interface Rule {
  readonly name: string
  isPossible(text: string): boolean
  replace(text: string, mark: () => string): string
}

const RULES: Readonly<Record<RedactionKind, Omit<Rule, 'name'>>> = {
  key: { isPossible: () => true, replace: (text, mark) => text.replace(KEY, mark) },
  email: {
    isPossible: (text) => text.includes('@'),
    replace: (text, mark) => text.replace(EMAIL, mark),
  },
  card: {
    isPossible: (text) => /\d{4}/.test(text),
    replace: (text, mark) =>
      text.replace(DIGITS, (digits) =>
        digits
          .split(GAP)
          .map((groups) => replaceCards(groups, mark))
          .join(''),
      ),
  },
  phone: {
    isPossible: (text) => /\d{2}/.test(text),
    replace: (text, mark) => text.replace(PHONE, mark),
  },
}

/** Returns digits with a mark for each card: a number of a brand whose check digit is right, not inside another one. */
function replaceCards(text: string, mark: () => string): string {
  const positions: number[] = []
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== ' ' && text[at] !== '-') positions.push(at)
  }
  const isBoundary = (at: number) => at === positions.length || at === 0 || isApart(at)
  const isApart = (at: number) => (positions[at] ?? 0) - (positions[at - 1] ?? 0) > 1
  let redacted = ''
  let end = 0
  for (let first = 0; first + 13 <= positions.length; first++) {
    if (!isBoundary(first)) continue
    for (let length = 19; length >= 13; length--) {
      const last = positions[first + length - 1]
      if (last === undefined || !isBoundary(first + length)) continue
      const begin = positions[first] ?? 0
      if (!isCard(text.slice(begin, last + 1).replace(/\D/g, ''))) continue
      redacted += text.slice(end, begin) + mark()
      end = last + 1
      first += length - 1
      break
    }
  }
  return redacted + text.slice(end)
}

function isCard(digits: string): boolean {
  if (!CARD.test(digits)) return false
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const doubled = at % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** Compiles a pattern of a user. @throws Error that says why it is none; also where it matches nothing at all */
function compilePattern(pattern: string): RE2JS {
  const compiled = RE2JS.compile(pattern)
  if (compiled.matcher('').find()) throw new Error('it matches the empty text')
  return compiled
}

/** Returns why a text is no pattern, null for a valid one. */
export function findPatternFault(pattern: string): string | null {
  try {
    compilePattern(pattern)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : 'it is no expression of RE2'
  }
}

/** Compiles what `readRedaction` returns; patterns of users go first, since they are more specific. */
export function createRedactor({ kinds, patterns }: Redaction): Redactor {
  const own = patterns.map(({ name, pattern }): Rule => {
    const compiled = compilePattern(pattern)
    return {
      name,
      isPossible: () => true,
      replace(text, mark) {
        const matcher = compiled.matcher(text)
        let replaced = ''
        let end = 0
        while (matcher.find()) {
          replaced += text.slice(end, matcher.start()) + mark()
          end = matcher.end()
        }
        return replaced + text.slice(end)
      },
    }
  })
  // Keys may contain matches of another kind.
  const ordered = Object.keys(RULES) as RedactionKind[]
  const built = ordered
    .filter((kind) => kinds.includes(kind))
    .map((name): Rule => ({ name, ...RULES[name] }))
  const rules = [...own, ...built]
  const findsCards = kinds.includes('card')

  function marker(name: string, counts: RedactedCounts): () => string {
    return () => {
      counts[name] = (counts[name] ?? 0) + 1
      return `[redacted:${name}]`
    }
  }

  function redactText(text: string, counts: RedactedCounts): string {
    let redacted = text
    for (const rule of rules) {
      if (!rule.isPossible(redacted)) continue
      redacted = rule.replace(redacted, marker(rule.name, counts))
    }
    return redacted
  }

  function redactLiteral(literal: string, counts: RedactedCounts): string {
    const text = literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1)
    const redacted = redactText(text, counts)
    return redacted === text ? literal : JSON.stringify(redacted)
  }

  function redactNumbers(text: string, counts: RedactedCounts): string {
    if (!findsCards || text.length < 13) return text
    const mark = marker('card', counts)
    return text.replace(NUMBER, (digits) => (isCard(digits) ? `"${mark()}"` : digits))
  }

  return {
    redactText,
    redactJson(json, counts) {
      let redacted = ''
      let at = 0
      for (;;) {
        const begin = json.indexOf('"', at)
        if (begin === -1) return redacted + redactNumbers(json.slice(at), counts)
        const end = findLiteralEnd(json, begin)
        redacted += redactNumbers(json.slice(at, begin), counts)
        redacted += redactLiteral(json.slice(begin, end), counts)
        at = end
      }
    },
  }
}

/** Returns the position behind the text that begins at a position. */
function findLiteralEnd(json: string, begin: number): number {
  let at = begin + 1
  for (;;) {
    const quote = json.indexOf('"', at)
    if (quote === -1) return json.length
    let slashes = 0
    while (json[quote - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return quote + 1
    at = quote + 1
  }
}

/** Reads a stored setting. */
export function readRedaction(rules_json: string): Redaction {
  const { kinds = [], patterns = [] } = (parseObject(rules_json) ?? {}) as Partial<Redaction>
  return { kinds, patterns }
}

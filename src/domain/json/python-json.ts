/**
 * Writes what Python's `json.dumps(json.loads(text), sort_keys=True)` writes, directly from text to text. Values are
 * not parsed, since a JavaScript number does not distinguish 1 from 1.0.
 */
import { endOfString } from './json-strings.ts'

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

const PLAIN = /^[ !#-[\]-~]*$/
const TO_ESCAPE = /["\\]|[^ -~]/g
const WHOLE_NUMBER = /^-?\d+$/
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

/** An element of a JSON array: its source text, and as Python writes it. */
interface JsonElement {
  readonly json: string
  readonly python: string
}

/**
 * Keys are sorted by code point, `", "` and `": "` separate, all but ASCII is escaped; whole numbers keep
 * their digits, others are the shortest double.
 *
 * @param text - JSON that has been parsed before, at most a few hundred levels deep
 *
 * Spec: §2.1 (how digests are computed is not shown). Choice: 1 and 1.0 are different contents, because
 * Python clients compute it so.
 */
export function toPythonJson(text: string): string {
  return createReader(text).value()
}

/**
 * The elements of an array, one after the other, so that a caller can rest between them.
 *
 * @param text - a JSON array that has been parsed before
 */
export function* readElements(text: string): Generator<JsonElement> {
  const reader = createReader(text)
  for (const python of reader.elements()) {
    yield { json: text.slice(reader.start(), reader.end()), python }
  }
}

/** Reads values from a text, each from where the last one ended. */
function createReader(text: string) {
  let at = 0
  let elementStart = 0

  function skipSpace(): number {
    let code = text.charCodeAt(at)
    while (code === 32 || code === 10 || code === 13 || code === 9) {
      at += 1
      code = text.charCodeAt(at)
    }
    return code
  }

  function value(): string {
    const code = skipSpace()
    if (code === QUOTE) return renderPythonString(string())
    if (code === OPEN_BRACE) return object()
    if (code === OPEN_BRACKET) return array()
    if (code === 0x74 || code === 0x6e) return word(4)
    if (code === 0x66) return word(5)
    return number()
  }

  function word(length: number): string {
    at += length
    return text.slice(at - length, at)
  }

  function number(): string {
    const start = at
    while (isOfNumber(text.charCodeAt(at))) at += 1
    if (at === start) throw new SyntaxError('not JSON')
    return renderPythonNumber(text.slice(start, at))
  }

  function string(): string {
    const start = at
    const quote = endOfString(text, start)
    if (quote === text.length) throw new SyntaxError('not JSON')
    at = quote + 1
    const inner = text.slice(start + 1, quote)
    return inner.includes('\\') ? JSON.parse(text.slice(start, at)) : inner
  }

  function* elements(): Generator<string> {
    if (skipSpace() === OPEN_BRACKET) at += 1
    while (skipSpace() !== CLOSE_BRACKET) {
      const start = at
      const python = value()
      elementStart = start
      yield python
      if (skipSpace() === COMMA) at += 1
    }
    at += 1
  }

  function array(): string {
    const items: string[] = []
    at += 1
    while (skipSpace() !== CLOSE_BRACKET) {
      items.push(value())
      if (skipSpace() === COMMA) at += 1
    }
    at += 1
    return `[${items.join(', ')}]`
  }

  function object(): string {
    const members = new Map<string, string>()
    at += 1
    while (skipSpace() !== CLOSE_BRACE) {
      const key = string()
      if (skipSpace() === COLON) at += 1
      // The last one wins when a key comes twice, as in Python.
      members.set(key, value())
      if (skipSpace() === COMMA) at += 1
    }
    at += 1
    const keys = [...members.keys()].sort(compareCodePoints)
    return `{${keys.map((key) => `${renderPythonString(key)}: ${members.get(key)}`).join(', ')}}`
  }

  return { value, elements, start: () => elementStart, end: () => at }
}

/** Digits, signs, the point and the letters of an exponent. */
function isOfNumber(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || code === 46 || code === 45 || code === 43 || (code | 32) === 101
  )
}

/** A string as `json.dumps` writes it: everything but printable ASCII is escaped, by UTF-16 halves. */
function renderPythonString(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`
  const escaped = value.replace(
    TO_ESCAPE,
    (unit) => SHORT_ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `"${escaped}"`
}

/**
 * A number as Python reads and writes it: whole numbers have any length, the rest are doubles.
 *
 * @param source - the number's JSON text
 */
export function renderPythonNumber(source: string): string {
  if (WHOLE_NUMBER.test(source)) return source === '-0' ? '0' : source
  const value = Number(source)
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  if (value === 0) return source.startsWith('-') ? '-0.0' : '0.0'
  const size = Math.abs(value)
  if (size >= 1e-4 && size < 1e16) {
    const plain = String(value)
    return plain.includes('.') ? plain : `${plain}.0`
  }
  const [digits = '', exponent = ''] = value.toExponential().split('e')
  return `${digits}e${exponent.charAt(0)}${exponent.slice(1).padStart(2, '0')}`
}

/** Order of Python's strings: by code point, which differs from UTF-16 where halves of pairs meet others. */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  let at = 0
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1
  if (at === length) return left.length - right.length
  // The units before may be the first half of a pair in one text and stand alone in the other.
  const before = left.charCodeAt(at - 1)
  const from = before >= 0xd800 && before <= 0xdbff ? at - 1 : at
  const difference = (left.codePointAt(from) ?? 0) - (right.codePointAt(from) ?? 0)
  return difference === 0 ? left.charCodeAt(at) - right.charCodeAt(at) : difference
}

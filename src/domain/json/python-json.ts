/**
 * Writes what Python's `json.dumps(json.loads(text), sort_keys=True)` writes. Numbers are rendered from their source
 * texts, since a JavaScript number does not distinguish 1 from 1.0.
 */
import { readJson } from './json-reader.ts'

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
  return render(readJson(text, (source) => () => renderPythonNumber(source)))
}

/** @param value - of readJson, numbers as functions that return them as Python writes them */
function render(value: unknown): string {
  if (typeof value === 'function') return value()
  if (typeof value === 'string') return renderPythonString(value)
  if (Array.isArray(value)) return `[${value.map(render).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).sort(([left], [right]) => compareCodePoints(left, right))
  const texts = members.map(([name, member]) => `${renderPythonString(name)}: ${render(member)}`)
  return `{${texts.join(', ')}}`
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

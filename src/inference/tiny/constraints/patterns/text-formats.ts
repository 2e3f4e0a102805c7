/**
 * String formats as character patterns: valid calendar days, minutes below 60, addresses without leading zeros. The
 * grammar engine's own formats accept invalid ones. Pure.
 */
import type { Pattern } from './pattern-grammar.ts'

const DIGIT = '0123456789'
const BELOW_60: readonly Pattern[] = [['012345', DIGIT]]
const HOURS: readonly Pattern[] = [
  ['01', DIGIT],
  ['2', '0123'],
]
const UP_TO_29: readonly Pattern[] = [
  ['0', '123456789'],
  ['12', DIGIT],
]

/** One after the other: all pairs. */
function join(...lists: readonly (readonly Pattern[])[]): Pattern[] {
  return lists.reduce<Pattern[]>(
    (before, next) => before.flatMap((start) => next.map((end) => [...start, ...end])),
    [[]],
  )
}

function fixed(text: string): readonly Pattern[] {
  return [Array.from(text)]
}

const DATES = join(
  [[DIGIT, DIGIT, DIGIT, DIGIT, '-']],
  [
    ...join(
      [
        ['0', '13578', '-'],
        ['1', '02', '-'],
      ],
      [...UP_TO_29, ['3', '01']],
    ),
    ...join(
      [
        ['0', '469', '-'],
        ['1', '1', '-'],
      ],
      [...UP_TO_29, ['3', '0']],
    ),
    ...join(
      [['0', '2', '-']],
      [
        ['0', '123456789'],
        ['1', DIGIT],
        ['2', '012345678'],
      ],
    ),
  ],
)
const ZONES = [...fixed('Z'), ...join([['+-']], HOURS, fixed(':'), BELOW_60)]
const TIMES = join(HOURS, fixed(':'), BELOW_60, fixed(':'), BELOW_60, ZONES)
const OCTETS: readonly Pattern[] = [
  [DIGIT],
  ['123456789', DIGIT],
  ['1', DIGIT, DIGIT],
  ['2', '01234', DIGIT],
  ['2', '5', '012345'],
]
const DOT = fixed('.')

/** Formats whose own grammars of the engine can stand inside a JSON text. */
export const ENGINE_FORMATS: ReadonlySet<string> = new Set([
  'duration',
  'ipv6',
  'uuid',
  'uri',
  'uri-reference',
])
const WORD = '[a-z0-9]{1,24}'
const LOCAL = '[A-Za-z0-9_+-]{1,20}'
/**
 * Formats that are said as regular expressions: shorter than the 64 and 255 characters of an address, with a last label
 * of letters, as patterns that check addresses want it.
 */
export const FORMAT_EXPRESSIONS: Readonly<Record<string, string>> = {
  email: `^${LOCAL}(\\.${LOCAL}){0,2}@(${WORD}\\.){1,5}[a-z]{2,24}$`,
  hostname: `^${WORD}(\\.${WORD}){0,9}$`,
}

function quote(patterns: readonly Pattern[]): readonly Pattern[] {
  return patterns.map((pattern) => ['"', ...pattern, '"'])
}

/** Formats by their names; no text of one matches two of its patterns. */
const FORMATS: Readonly<Record<string, readonly Pattern[]>> = {
  date: quote(DATES),
  time: quote(TIMES),
  'date-time': quote(join(DATES, fixed('T'), TIMES)),
  ipv4: quote(join(OCTETS, DOT, OCTETS, DOT, OCTETS, DOT, OCTETS)),
}

/**
 * The patterns of a format between the quotes of a JSON text, the same list each time; null for one that is
 * not known here.
 *
 * Spec: §4.3 structured_outputs json.
 * Choice: no leap days, leap seconds nor fractions of seconds, which a format may have.
 */
export function listFormat(format: unknown): readonly Pattern[] | null {
  const isKnown = typeof format === 'string' && Object.hasOwn(FORMATS, format)
  return isKnown ? (FORMATS[format] ?? null) : null
}

/** Whether texts are held to the format; any other says nothing. */
export function isKnownFormat(format: string): boolean {
  return (
    Object.hasOwn(FORMATS, format) ||
    Object.hasOwn(FORMAT_EXPRESSIONS, format) ||
    ENGINE_FORMATS.has(format)
  )
}

/**
 * What keeps both a format and the pattern beside it. The grammar engine enforces one of the two, so that one must imply
 * the other. Pure.
 */
import { isKnownFormat } from './text-formats.ts'

const HEX = '[0-9a-fA-F]'
const GROUP = `${HEX}{1,4}`
const OCTET = '25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9]'
const DATE =
  '(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))'
const MINUTE = '(?:[01]\\d|2[0-3]):[0-5]\\d'
const SECOND = ':[0-5]\\d'
const OFFSET = `([+-]${MINUTE})`

/** Patterns that Zod 4 writes beside a format, and which every text of that format as it is enforced here matches. */
const IMPLIED: Readonly<Record<string, readonly string[]>> = {
  date: [`^${DATE}$`],
  duration: [
    '^P(?:(\\d+W)|(?!.*W)(?=\\d|T\\d)(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+([.,]\\d+)?S)?)?)$',
  ],
  email: [
    "^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$",
    '^(([^<>()\\[\\]\\\\.,;:\\s@"]+(\\.[^<>()\\[\\]\\\\.,;:\\s@"]+)*)|(".+"))@((\\[[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}])|(([a-zA-Z\\-0-9]+\\.)+[a-zA-Z]{2,}))$',
    '^[^\\s@"]{1,64}@[^\\s@]{1,255}$',
  ],
  hostname: [
    '^(?=.{1,253}\\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\\.?$',
  ],
  ipv4: [`^(?:(?:${OCTET})\\.){3}(?:${OCTET})$`],
}

/** Patterns that Zod 4 writes beside a format, each with one that implies both. */
const STRICTEST: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  'date-time': new Map(listDateTimes()),
  ipv6: new Map([
    [
      `^((${GROUP}:){7}${GROUP}|::|(${GROUP})?::(${GROUP}:?){0,6})$`,
      // Why: the short forms of this pattern may end in a colon.
      `^(${GROUP}:){7}${GROUP}$`,
    ],
    ...itself([
      `^((${GROUP}:){7}${GROUP}|(${GROUP}:){1,7}:|(${GROUP}:){1,6}:${GROUP}|(${GROUP}:){1,5}(:${GROUP}){1,2}|(${GROUP}:){1,4}(:${GROUP}){1,3}|(${GROUP}:){1,3}(:${GROUP}){1,4}|(${GROUP}:){1,2}(:${GROUP}){1,5}|${GROUP}:((:${GROUP}){1,6})|:((:${GROUP}){1,7}|:))$`,
    ]),
  ]),
  uuid: new Map(itself(listUuids())),
}

function listUuids(): string[] {
  const nil = '|00000000-0000-0000-0000-000000000000'
  const spell = (version: string, variant: string, others = ''): string =>
    `^(${HEX}{8}-${HEX}{4}-${version}${HEX}{3}-${variant}${HEX}{3}-${HEX}{12}${others})$`
  const variant = '[89abAB]'
  return [
    spell('[1-8]', variant, nil),
    spell('[1-8]', variant, `${nil}|ffffffff-ffff-ffff-ffff-ffffffffffff`),
    ...Array.from('12345678', (version) => spell(version, variant)),
    `^(${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12})$`,
  ]
}

/** With or without fractions and offsets; without, where the pattern leaves it open and the format wants a zone. */
function listDateTimes(): (readonly [string, string])[] {
  const spell = (seconds: string, zone: string): string =>
    `^${DATE}T(?:${MINUTE}${seconds}(?:${zone}))$`
  const whole = [SECOND, `${SECOND}(?:\\.\\d+)?`, `(?:${SECOND}(?:\\.\\d+)?)?`]
  const digits = Array.from('123456789', (count) => `${SECOND}\\.\\d{${count}}`)
  const seconds = [
    ...whole.map((written) => [written, SECOND] as const),
    ...digits.map((written) => [written, written] as const),
  ]
  const anyOffset = '([+-]\\d{2}:\\d{2})'
  const zones = [
    ...['Z', 'Z|'].map((written) => [written, 'Z'] as const),
    ...[OFFSET, anyOffset].flatMap((offset) =>
      ['Z|', 'Z||'].map((before) => [before + offset, `Z|${OFFSET}`] as const),
    ),
  ]
  return seconds.flatMap(([second, strict]) =>
    zones.map(([zone, strictZone]) => [spell(second, zone), spell(strict, strictZone)] as const),
  )
}

function itself(patterns: readonly string[]): (readonly [string, string])[] {
  return patterns.map((pattern) => [pattern, pattern])
}

/**
 * The schema with only one of its format and its pattern, so that every text which keeps that one keeps both; null when
 * no such schema is known. A format that is not enforced says nothing.
 *
 * Spec: §4.3 structured_outputs json.
 * Choice: beside an enforced format only the patterns that Zod 4 writes are taken.
 */
export function settleFormat(
  schema: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | null {
  const { format, pattern, ...rest } = schema
  if (typeof format !== 'string') return schema
  if (!isKnownFormat(format)) return pattern === undefined ? rest : { ...rest, pattern }
  if (pattern === undefined) return schema
  if (typeof pattern !== 'string') return null
  if (IMPLIED[format]?.includes(pattern) === true) return { ...rest, format }
  const strictest = STRICTEST[format]?.get(pattern)
  return strictest === undefined ? null : { ...rest, pattern: strictest }
}

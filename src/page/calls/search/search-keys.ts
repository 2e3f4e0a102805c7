/** The keys of a search of calls: what each may be compared with. Pure. */
export type Operator = ':' | '=' | '>' | '>=' | '<' | '<='

export interface SearchKey {
  readonly name: string
  /** What it finds, in a few words. */
  readonly hint: string
  /** `part`: any part of a text, ignoring case; `whole`: the whole text, unless it contains `*`. */
  readonly kind: 'part' | 'whole' | 'choice' | 'duration' | 'money' | 'count'
  /** The values of a choice, and what each means. */
  readonly choices?: Readonly<Record<string, string>>
  readonly example: string
  /** Whether a search may have it only once, and not excluded: the server has no other way to ask for it. */
  readonly isSingle?: boolean
}

const STATUSES = {
  success: 'ended well',
  error: 'failed',
  running: 'has not ended',
  descendant_error: 'a call below it failed',
}

const FEEDBACK = {
  some: 'any feedback',
  none: 'no feedback',
  good: 'a thumb up',
  bad: 'a thumb down',
  note: 'a note',
}

export const SEARCH_KEYS: readonly SearchKey[] = [
  {
    name: 'status',
    hint: 'how it ended',
    kind: 'choice',
    choices: STATUSES,
    example: 'status:error',
  },
  { name: 'op', hint: 'part of the operation', kind: 'part', example: 'op:answer' },
  { name: 'model', hint: 'part of the name of a model', kind: 'part', example: 'model:gpt*' },
  { name: 'latency', hint: 'how long it took', kind: 'duration', example: 'latency>2s' },
  { name: 'cost', hint: 'US dollars', kind: 'money', example: 'cost>0.01' },
  { name: 'tree-cost', hint: 'with calls below', kind: 'money', example: 'tree-cost>0.01' },
  { name: 'tree-tokens', hint: 'with calls below', kind: 'count', example: 'tree-tokens>1' },
  { name: 'user', hint: 'whose key recorded it', kind: 'whole', example: 'user:hana' },
  { name: 'end-user', hint: 'for whom it was made', kind: 'whole', example: 'end-user:u-17' },
  { name: 'thread', hint: 'its conversation', kind: 'whole', example: 'thread:chat-1' },
  {
    name: 'feedback',
    hint: 'what people said',
    kind: 'choice',
    choices: FEEDBACK,
    example: 'feedback:bad',
  },
  { name: 'tag', hint: 'one of its tags', kind: 'whole', example: 'tag:checked' },
  { name: 'text', hint: 'in inputs or output', kind: 'part', example: '"any words"' },
  { name: 'input', hint: 'in the inputs', kind: 'part', example: 'input:refund' },
  { name: 'output', hint: 'in the output', kind: 'part', example: 'output:sorry' },
  { name: 'error', hint: 'in the message of its error', kind: 'part', example: 'error:timeout' },
  { name: 'trace', hint: 'id of its trace', kind: 'whole', example: 'trace:0123' },
  { name: 'id', hint: 'its own id', kind: 'whole', example: 'id:0123' },
  {
    name: 'ref',
    hint: 'an object it used',
    kind: 'whole',
    example: 'ref:weave:///a/b/object/c:d',
    isSingle: true,
  },
]

const BODIES = ['inputs', 'output', 'attributes', 'summary']

/** Keys that end up in a path, as `inputs.question`, compare with texts and with numbers. */
const PATH_KEY = {
  hint: 'a member of a body',
  kind: 'part',
  example: 'inputs.question:why',
} as const

/** @returns the key of a name or of a path inside a body; null for any other name */
export function searchKeyOf(name: string): SearchKey | null {
  const known = SEARCH_KEYS.find((key) => key.name === name)
  if (known !== undefined) return known
  const [body = '', ...path] = name.split('.')
  const isPath = BODIES.includes(body) && path.length > 0 && !path.includes('')
  return isPath ? { ...PATH_KEY, name } : null
}

function isPathKey({ name }: SearchKey): boolean {
  return name.includes('.')
}

/** Kinds that are compared by size alone. */
const MEASURED: readonly SearchKey['kind'][] = ['duration', 'money', 'count']

/** The operators that a key takes. */
export function operatorsOf(key: SearchKey): readonly Operator[] {
  if (isPathKey(key)) return [':', '=', '>', '>=', '<', '<=']
  if (MEASURED.includes(key.kind)) return ['>', '>=', '<', '<=']
  return key.kind === 'part' && !TEXTS.includes(key.name) ? [':', '='] : [':']
}

/** Keys that search in long texts, which nobody writes out as a whole. */
const TEXTS = ['text', 'input', 'output', 'error']

const MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 }
const DURATION = /^(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?(ms|s|min|h)?$/
const NUMBER = /^\$?(-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)$/
/** Digits that a product of two doubles keeps. */
const DIGITS = 12

/** @returns milliseconds of a text such as `250`, `250ms`, `1.5s`, `2min`, `1h`; null for another text */
export function durationOf(text: string): number | null {
  const [, digits, exponent = '', unit = 'ms'] = DURATION.exec(text.toLowerCase()) ?? []
  if (digits === undefined) return null
  const ms = Number((Number(`${digits}${exponent}`) * (MS[unit] ?? 1)).toPrecision(DIGITS))
  return Number.isFinite(ms) ? ms : null
}

/** @returns a number, such as `0.01`, `$0.01` or `1e-5`; null for another text */
export function numberOf(text: string): number | null {
  const number = Number(NUMBER.exec(text.toLowerCase())?.[1] ?? Number.NaN)
  return Number.isFinite(number) ? number : null
}

/** The one way in which a value is written. @returns null for a text that the key does not take */
export function canonicalValue(key: SearchKey, operator: Operator, text: string): string | null {
  if (key.kind === 'choice') {
    const choice = text.toLowerCase()
    return Object.hasOwn(key.choices ?? {}, choice) ? choice : null
  }
  if (key.kind === 'duration') return canonicalDuration(durationOf(text))
  const isNumber = MEASURED.includes(key.kind) || (operator !== ':' && operator !== '=')
  if (!isNumber) return text
  const number = numberOf(text)
  return number === null ? null : String(number)
}

function canonicalDuration(ms: number | null): string | null {
  if (ms === null) return null
  const seconds = String(Number((ms / 1000).toPrecision(DIGITS)))
  return ms >= 1000 && durationOf(`${seconds}s`) === ms ? `${seconds}s` : `${ms}ms`
}

/** What a key accepts, for someone who gave it something else. */
export function acceptedOf(key: SearchKey, operator: Operator): string {
  if (key.kind === 'choice') return `one of ${Object.keys(key.choices ?? {}).join(', ')}`
  if (key.kind === 'duration') return 'a time such as 250ms, 1.5s, 2min or 1h'
  if (key.kind === 'money') return 'US dollars such as 0.01'
  return operator === ':' || operator === '=' ? 'a text' : 'a number such as 0.5'
}

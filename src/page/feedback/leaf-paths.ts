/** The paths of the leaves inside payloads with their types, by the rules of the server's payload schemas. Pure. */
import { isExactNumber } from '../api/exact-json.ts'
import type { PayloadPath } from '../api/wire.ts'

/** Limit: distinct paths; payloads with ids as keys would have any number. */
const PATHS_MAX = 1000
const PLAIN_KEY = /^[A-Za-z0-9_]+$/

type ValueType = PayloadPath['value_type']

/** In the order in which they are met. */
export function leafPathsOf(payloads: readonly unknown[]): readonly PayloadPath[] {
  const types = new Map<string, Set<ValueType>>()
  for (const payload of payloads) addLeaves('', payload, types)
  return [...types].map(([json_path, found]) => {
    const [first = 'categorical'] = found
    return { json_path, value_type: found.size > 1 ? 'categorical' : first }
  })
}

function addLeaves(path: string, value: unknown, types: Map<string, Set<ValueType>>): void {
  if (Array.isArray(value)) {
    for (const item of value) addLeaves(`${path}[*]`, item, types)
  } else if (typeof value === 'object' && value !== null && !isExactNumber(value)) {
    for (const [key, item] of Object.entries(value)) addLeaves(withKey(path, key), item, types)
  } else if (types.has(path) || types.size < PATHS_MAX) {
    const found = types.get(path) ?? new Set()
    // Nulls say nothing about a type.
    types.set(path, value === null ? found : found.add(typeOf(value)))
  }
}

function withKey(path: string, key: string): string {
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

function typeOf(value: unknown): ValueType {
  if (typeof value === 'number' || isExactNumber(value)) return 'numeric'
  return typeof value === 'boolean' ? 'boolean' : 'categorical'
}

/** A key of a path: after a dot, or as JSON in brackets. */
const KEY = /^(?:\.?([A-Za-z0-9_]+)|\[("(?:[^"\\]|\\.)*")\])/

/** The field of queries at a path of payloads; null for a path that fields cannot name, as those into arrays. */
export function fieldOfPath(path: string): string | null {
  const keys = ['payload']
  for (let rest = path; rest !== ''; ) {
    const [step, plain, quoted] = KEY.exec(rest) ?? []
    if (step === undefined) return null
    const key = plain ?? (JSON.parse(quoted ?? '""') as string)
    // Fields have no way to write such a key.
    if (key === '' || key.includes('.')) return null
    keys.push(key)
    rest = rest.slice(step.length)
  }
  return keys.join('.')
}

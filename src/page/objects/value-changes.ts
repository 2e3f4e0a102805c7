/** Compares two JSON values and lists the paths that differ. Pure. */
import { isExactNumber } from '../api/exact-json.ts'
import { align } from '../parts/align.ts'

export interface Change {
  /** Path as `a.b[2].c`; '' for the values themselves. */
  readonly path: string
  readonly kind: 'changed' | 'removed' | 'added'
  /** Undefined for what was added. */
  readonly before: unknown
  /** Undefined for what was removed. */
  readonly after: unknown
}

/** Limit: items of an array that are aligned with those of another; longer ones are compared place by place. */
const ITEMS_MAX = 1000

/** The differences in the order of the value after, where it has them. */
export function listChanges(before: unknown, after: unknown, path = ''): Change[] {
  if (Array.isArray(before) && Array.isArray(after)) return changesOfArrays(before, after, path)
  if (isRecord(before) && isRecord(after)) return changesOfRecords(before, after, path)
  if (before === after || canonicalText(before) === canonicalText(after)) return []
  return [{ path, kind: 'changed', before, after }]
}

type Json = Readonly<Record<string, unknown>>

function isRecord(value: unknown): value is Json {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value)
  )
}

function changesOfRecords(before: Json, after: Json, path: string): Change[] {
  const names = new Set([...Object.keys(after), ...Object.keys(before)])
  return [...names].flatMap((name): Change[] => {
    const place = path === '' ? nameOf(name) : `${path}.${nameOf(name)}`
    if (!Object.hasOwn(before, name))
      return [{ path: place, kind: 'added', before: undefined, after: after[name] }]
    if (!Object.hasOwn(after, name))
      return [{ path: place, kind: 'removed', before: before[name], after: undefined }]
    return listChanges(before[name], after[name], place)
  })
}

/** Quotes names that would be read as a path. */
function nameOf(name: string): string {
  return /^[^.[\]"]+$/.test(name) ? name : JSON.stringify(name)
}

function changesOfArrays(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): Change[] {
  const isLong = Math.max(before.length, after.length) > ITEMS_MAX
  const texts = (items: readonly unknown[], mark: string) =>
    items.map((item, at) => (isLong ? `${mark}${at}` : canonicalText(item)))
  const steps = align(texts(before, 'x'), texts(after, isLong ? 'y' : 'x'))
  const changes: Change[] = []
  const removed: number[] = []
  const flush = () => {
    for (const at of removed.splice(0))
      changes.push({
        path: `${path}[${at}]`,
        kind: 'removed',
        before: before[at],
        after: undefined,
      })
  }
  for (const step of steps) {
    if (step.kind === 'removed') removed.push(step.before)
    if (step.kind === 'same') flush()
    if (step.kind !== 'added') continue
    const place = `${path}[${step.after}]`
    const pair = removed.shift()
    if (pair === undefined)
      changes.push({ path: place, kind: 'added', before: undefined, after: after[step.after] })
    else changes.push(...listChanges(before[pair], after[step.after], place))
  }
  flush()
  return changes
}

/** Returns equal texts for equal values, whatever the order of their members. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    isRecord(member)
      ? Object.fromEntries(
          Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)),
        )
      : member,
  )
}

/**
 * Merges members of a streamed answer that have no rule of their own, such as `images`, `reasoning_details` or
 * `provider_specific_fields`, into what a whole answer has in their place.
 */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../domain/json/is-object.ts'
import type { RecordBudget } from './streamed-content.ts'

/**
 * How two values of one member merge. `increments`: a later value continues the earlier one, as in a delta. `states`:
 * a later value replaces the earlier one, as in the members of a choice or a chunk.
 */
type MergeMode = 'increments' | 'states'

interface MergedMembersOptions {
  readonly mode: MergeMode
  /** Members that are left out. */
  readonly except: ReadonlySet<string>
  readonly budget: RecordBudget
}

export interface MergedMembers {
  /** Merges the members of the next piece. @returns whether one of them has a text, which is no label */
  add(piece: Fields): boolean
  render(): Fields
}

type Fields = Readonly<Record<string, unknown>>

/** Names of texts that identify or describe a value: the first one is kept, and later ones do not continue it. */
const LABELS: ReadonlySet<string> = new Set(['id', 'type', 'index', 'format', 'role', 'name'])
/** Texts of an element of a list that the next element continues if it has no index. */
const GROWING = ['text', 'thinking', 'summary', 'data', 'signature'] as const
/** Members of deltas that some engines send as one element instead of a list. */
const LISTS: ReadonlySet<string> = new Set(['annotations'])
/** Limit: elements, counted from the end of a list, among which the one with an index is searched. */
const SEARCHED_MAX = 100

/**
 * Merges as follows; null is skipped.
 *
 * - Objects merge member by member.
 * - With `increments`, a text continues the known one unless it is a label. An element of a list continues the known
 *   element of the same `index`, or without an index the last one if both are texts of the same type; other elements
 *   are appended. A list of untyped elements that repeats the known list replaces it.
 * - With `states`, texts and lists replace the known ones.
 * - Anything else replaces the known value.
 *
 * Spec: §4.3 (nothing says what of a completion is recorded).
 * Choice: a recorded stream has the members that a whole answer has, known to this server or not.
 */
export function createMergedMembers(options: MergedMembersOptions): MergedMembers {
  const { mode, except, budget } = options
  const appends = mode === 'increments'
  const members: Record<string, unknown> = {}

  function mergeText(name: string, known: unknown, added: string): string {
    if (typeof known !== 'string' || known === '') return budget.take(added)
    if (appends ? LABELS.has(name) : known === added) return known
    return appends ? known + budget.take(added) : budget.take(added)
  }

  function mergeList(known: unknown, added: readonly unknown[]): unknown[] {
    const list: unknown[] = Array.isArray(known) ? known : []
    if (!appends && isDeepStrictEqual(list, added)) return list
    const isRepeated = appends && list.length > 0 && startsWith(added, list)
    if (!appends) list.length = 0
    for (const element of isRepeated ? added.slice(list.length) : added) addElement(list, element)
    return list
  }

  function addElement(list: unknown[], element: unknown): void {
    const target = appends && isObject(element) ? findContinued(list, element) : undefined
    if (target !== undefined) mergeObject(target, element as Fields)
    else if (budget.spend(2)) list.push(merge('', undefined, element))
  }

  function mergeObject(target: Record<string, unknown>, added: Fields): Record<string, unknown> {
    for (const [name, value] of Object.entries(added)) {
      if (value === null || value === undefined) continue
      const isKnown = Object.hasOwn(target, name)
      if (!isKnown && !budget.spend(name.length + 4)) continue
      setOwn(target, name, merge(name, isKnown ? target[name] : undefined, value))
    }
    return target
  }

  function merge(name: string, known: unknown, added: unknown): unknown {
    if (typeof added === 'string') return mergeText(name, known, added)
    if (Array.isArray(added)) return mergeList(known, added)
    if (isObject(added)) {
      return mergeObject(isObject(known) ? (known as Record<string, unknown>) : {}, added)
    }
    return added
  }

  return {
    add(piece) {
      let hasNews = false
      for (const [name, value] of Object.entries(piece)) {
        if (except.has(name)) continue
        const isSingle = appends && LISTS.has(name) && isObject(value)
        mergeObject(members, { [name]: isSingle ? [value] : value })
        hasNews ||= hasText(name, value)
      }
      return hasNews
    },
    render: () => members,
  }
}

function hasText(name: string, value: unknown): boolean {
  if (typeof value === 'string') return value !== '' && !LABELS.has(name)
  if (Array.isArray(value)) return value.some((element) => hasText('', element))
  return isObject(value) && Object.entries(value).some(([key, one]) => hasText(key, one))
}

/** Whether a list of elements that cannot be continued begins with all elements of another one. */
function startsWith(list: readonly unknown[], start: readonly unknown[]): boolean {
  return (
    list.length >= start.length &&
    start.every((element, at) => !isTyped(element) && isDeepStrictEqual(element, list[at]))
  )
}

function isTyped(element: unknown): boolean {
  return isObject(element) && (element.type !== undefined || element.index !== undefined)
}

/** Returns the element of a list that another one continues. */
function findContinued(list: readonly unknown[], added: Fields) {
  const isContinued = (element: unknown, at: number): element is Record<string, unknown> => {
    if (!isObject(element) || !isSameOrAbsent(element.type, added.type)) return false
    if (!isSameOrAbsent(element.id, added.id)) return false
    if (added.index !== undefined) return element.index === added.index
    return at === list.length - 1 && element.index === undefined && isGrowing(added)
  }
  for (let at = list.length - 1; at >= Math.max(0, list.length - SEARCHED_MAX); at--) {
    const element = list[at]
    if (isContinued(element, at)) return element
  }
  return undefined
}

function isSameOrAbsent(known: unknown, added: unknown): boolean {
  return (known ?? null) === null || (added ?? null) === null || known === added
}

/** Whether an element has a type, and texts that continue those of the element before it. */
function isGrowing(element: Fields): boolean {
  const isText = ([name, value]: [string, unknown]) =>
    value === null || LABELS.has(name) || GROWING.some((growing) => growing === name)
  return typeof element.type === 'string' && Object.entries(element).every(isText)
}

/** Sets an own member, whatever its name. */
function setOwn(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}

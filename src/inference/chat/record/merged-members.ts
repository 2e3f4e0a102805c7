/**
 * Merges the content of a streamed message, a text or a list of parts, and the members that have no rule of their own, such
 * as `images`, `reasoning_details` or `provider_specific_fields`, into what a whole completion has in their place.
 */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../domain/json/is-object.ts'

type Part = Record<string, unknown>

/** What may still be kept of an answer. */
export interface RecordBudget {
  /** Takes a text from it. @returns what of the text is kept */
  take(text: string): string
  /** Takes characters from it. @returns false when too few are left */
  spend(chars: number): boolean
}

export interface StreamedContent {
  /** Adds a text or a list of parts; ignores other values. @returns whether it contained something */
  add(piece: unknown): boolean
  /** A text if only texts came, else the parts; null before something came. */
  render(): string | readonly unknown[] | null
}

export function createStreamedContent(budget: RecordBudget): StreamedContent {
  let text: string | null = null
  let parts: Part[] | null = null
  return {
    add(piece) {
      if (piece === '') return false
      if (typeof piece === 'string' && parts === null) {
        text = (text ?? '') + budget.take(piece)
        return true
      }
      const added = typeof piece === 'string' ? [{ type: 'text', text: piece }] : piece
      if (!Array.isArray(added) || added.length === 0) return false
      parts ??= text === null ? [] : [{ type: 'text', text }]
      addParts(parts, added, budget, ['text', 'thinking'])
      return true
    },
    render: () => parts ?? text,
  }
}

/**
 * Adds parts to a list.
 *
 * @param growing - fields whose value, a text or a list of parts with texts, continues that of the last part if both
 * parts have the same type
 */
function addParts(
  list: Part[],
  added: readonly unknown[],
  budget: RecordBudget,
  growing: readonly string[],
): void {
  for (const part of added) {
    if (!isObject(part)) continue
    const name = growing.find((one) => typeof part[one] === 'string' || Array.isArray(part[one]))
    if (name === undefined) {
      if (budget.spend(sizeOf(part))) list.push(part)
      continue
    }
    const { [name]: value, ...others } = part
    const last = list.at(-1)
    const isNew = last?.type !== part.type || !isSameKind(last?.[name], value)
    const target = isNew ? { [name]: typeof value === 'string' ? '' : [] } : (last as Part)
    const hasOthers = isNew || Object.keys(others).length > 1
    const isKept = hasOthers && budget.spend(sizeOf(others))
    if (isNew && !isKept) continue
    if (isKept) Object.assign(target, others)
    if (isNew) list.push(target)
    if (typeof value === 'string') target[name] += budget.take(value)
    else addParts(target[name] as Part[], value as unknown[], budget, ['text'])
  }
}

function isSameKind(known: unknown, added: unknown): boolean {
  return typeof known === typeof added && Array.isArray(known) === Array.isArray(added)
}

/** Characters of JSON that a value takes; infinitely many if it nests too deeply to be written. */
export function sizeOf(value: unknown): number {
  try {
    return JSON.stringify(value).length
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

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

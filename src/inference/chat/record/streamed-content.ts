/** Assembles the content of a streamed message: a text, or a list of parts where an engine sends such lists. */
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

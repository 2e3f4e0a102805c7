/** The items of calls that are open in a response: each stays open as long as its arguments are incomplete. Pure. */
import { ApiError } from '../../../errors.ts'
import type { OutputItem } from './response-state.ts'

/** Emits an event of a type with its fields, as they are now. */
export type Emit = (type: string, fields: Readonly<Record<string, unknown>>) => void

export type EndStatus = 'completed' | 'incomplete'

export interface OpenItem {
  readonly item: OutputItem
  readonly output_index: number
}

interface OpenCalls {
  /** Takes an item that was begun. @param number - of the call in the chat */
  open(number: number, open: OpenItem): void
  /** Whether an item of the call was begun. */
  has(number: number): boolean
  /** Adds to the arguments of a call. @throws ApiError upstream_invalid_response when they were complete */
  add(number: number, text: string): void
  /** Ends the call that got the last chunk, if its arguments are complete. */
  closeComplete(): void
  /** Ends all calls. */
  close(status: EndStatus): void
}

interface OpenCallsOptions {
  readonly emit: Emit
  /** Counts a text and returns it. @throws ApiError for one too many */
  readonly spend: (text: string) => string
  /** Ends an item. */
  readonly end: (open: OpenItem, status: EndStatus) => void
}

export function createOpenCalls({ emit, spend, end }: OpenCallsOptions): OpenCalls {
  const begun = new Set<number>()
  const calls = new Map<number, OpenItem>()
  let latest = -1

  function close(number: number, status: EndStatus): void {
    const open = calls.get(number)
    if (open === undefined) return
    const { item, output_index } = open
    // Not all releases of the SDKs know the name, but some require it.
    const told = { item_id: item.id, output_index, name: item.name, arguments: item.arguments }
    emit('response.function_call_arguments.done', told)
    end(open, status)
    calls.delete(number)
  }

  return {
    open(number, open) {
      begun.add(number)
      calls.set(number, open)
      latest = number
    },
    has: (number) => begun.has(number),
    add(number, text) {
      const open = calls.get(number)
      // White space may follow the end of a JSON text.
      if (text === '' || (open === undefined && text.trim() === '')) return
      if (open === undefined) throw tooLate()
      const { item, output_index } = open
      item.arguments += spend(text)
      latest = number
      const place = { item_id: item.id, output_index }
      emit('response.function_call_arguments.delta', { ...place, delta: text })
    },
    closeComplete() {
      if (isComplete(calls.get(latest)?.item.arguments)) close(latest, 'completed')
    },
    close(status) {
      for (const number of calls.keys()) close(number, status)
    },
  }
}

/** Whether a text is a complete JSON object. */
function isComplete(text: string | undefined): boolean {
  if (!text?.trimEnd().endsWith('}')) return false
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

function tooLate(): ApiError {
  const message = 'The upstream added to the arguments of a tool call that were complete.'
  return new ApiError('upstream_invalid_response', { message })
}

/**
 * Bounds what is sent to the model's process, which many callers share and which has little memory: it holds the plans
 * of all requests, and the inputs of a template several times.
 */
import { refuse } from '../../../errors.ts'
import { promptParam } from '../text/plain-prompt.ts'
import type { EnginePlan } from './engine-work.ts'

/** Limit: bytes of one plan; a million token ids fit. */
const PLAN_BYTES_MAX = 9 * 1024 * 1024
/** Limit: bytes of all plans that run or wait together. */
export const PLANS_BYTES_MAX = 24 * 1024 * 1024
/** Bytes in memory, roughly: of a number, of a text and of a list or an object without what is in them. */
const VALUE_BYTES = 8
const TEXT_BYTES = 32
const CONTAINER_BYTES = 64
const CHARACTER_BYTES = 2

/**
 * Returns roughly the bytes of a plan in memory.
 *
 * @throws ApiError context_length_exceeded for a plan beyond the limit
 */
export function requirePlanBytes(plan: EnginePlan): number {
  let bytes = 0
  const waiting: unknown[] = [plan]
  while (waiting.length > 0) {
    const value = waiting.pop()
    bytes += VALUE_BYTES
    if (typeof value === 'string') bytes += TEXT_BYTES + value.length * CHARACTER_BYTES
    else if (typeof value === 'object' && value !== null) {
      bytes += CONTAINER_BYTES
      const parts = partsOf(value)
      if (bytes + parts.length * VALUE_BYTES > PLAN_BYTES_MAX) refuseLarge(plan)
      for (const part of parts) waiting.push(part)
    }
    if (bytes > PLAN_BYTES_MAX) refuseLarge(plan)
  }
  return bytes
}

/** The items of a list, or the keys and values of an object. */
function partsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (value instanceof Map || value instanceof Set) return [...value]
  return [...Object.keys(value), ...Object.values(value)]
}

function refuseLarge(plan: EnginePlan): never {
  const message = `The request is too large for the model: it takes more than ${PLAN_BYTES_MAX} bytes of memory.`
  refuse('context_length_exceeded', paramOf(plan), message)
}

/** The field that most of a plan comes from. */
function paramOf(plan: EnginePlan): string {
  if (!('kind' in plan)) return promptParam(plan.prompt)
  if (plan.kind === 'embedding') return 'input'
  return 'ids' in plan.of ? 'tokens' : promptParam(plan.of.prompt)
}

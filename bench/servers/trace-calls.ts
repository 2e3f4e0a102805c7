/** Calls in traces of eight whose roots report what the whole trace used, for the benchmark of stores. */
import {
  type CallParts,
  resolveCallEnd,
  resolveCallStart,
} from '../../src/domain/calls/new-call.ts'

export const project_id = 'bench/stores'
export const FIRST_US = Date.UTC(2026, 2, 1) * 1000
export const RANGE_US = 30 * 86_400e6
export const TRACE_CALLS = 8

interface Usage {
  readonly requests: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

/** A call's own usage by model: one call in three used tokens. */
function usedBy(at: number): Record<string, Usage> {
  if (at % 3 !== 0) return {}
  const used = { requests: 1, prompt_tokens: 100 + (at % 900), completion_tokens: at % 300 }
  return { [`model-${at % 5}`]: used }
}

/** A call's reported usage: a root reports that of its whole trace, as SDKs do. */
function reportOf(at: number): Record<string, Usage> {
  if (at % TRACE_CALLS !== 0) return usedBy(at)
  const sums: Record<string, Usage> = {}
  for (let call = at; call < at + TRACE_CALLS; call++) {
    for (const [model, used] of Object.entries(usedBy(call))) {
      const sum = sums[model] ?? { requests: 0, prompt_tokens: 0, completion_tokens: 0 }
      sums[model] = {
        requests: sum.requests + used.requests,
        prompt_tokens: sum.prompt_tokens + used.prompt_tokens,
        completion_tokens: sum.completion_tokens + used.completion_tokens,
      }
    }
  }
  return sums
}

/** From call to call all repeats after so many, but for ids, times and texts. */
export const PERIOD_CALLS = 45_000

/**
 * Calls in traces of eight, a root and seven below it; one in fifty failed.
 *
 * @param isNarrow - whether they have an end user instead of texts
 */
export function callOf(at: number, calls: number, isNarrow = false): CallParts {
  const us = FIRST_US + Math.floor(at * (RANGE_US / calls))
  const text = (word: string) => (isNarrow ? {} : { text: `${word} ${at} `.repeat(10) })
  const root = at - (at % TRACE_CALLS)
  const ids = { project_id, id: idOf(at) }
  const usage = reportOf(at)
  const summary = Object.keys(usage).length > 0 ? { usage } : {}
  const started = {
    ...ids,
    trace_id: idOf(root),
    parent_id: at === root ? null : idOf(root),
    op_name: `step_${at % 40}`,
    started_at: new Date(us / 1000).toISOString(),
    attributes: isNarrow ? { user_id: userOf(at) } : {},
    inputs: text('question'),
  }
  const latencyMs = 20 + ((at * 7919) % 5000)
  const ended = {
    ...ids,
    ended_at: new Date(us / 1000 + latencyMs).toISOString(),
    summary,
    output: text('answer'),
    exception: at % 50 === 0 ? 'Error' : null,
  }
  const defaults = { id: '', trace_id: '', svc_user_id: 'bench', svc_username: 'bench' }
  return {
    start: resolveCallStart(started, defaults, 'weave'),
    end: resolveCallEnd(ended, 'weave'),
  }
}

/** One of 5,000 end users. */
export function userOf(at: number): string {
  return `user-${at % 5000}`
}

export function idOf(at: number): string {
  return `01980000-0000-7000-8000-${String(at).padStart(12, '0')}`
}

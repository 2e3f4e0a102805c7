import type { CallExpiry, CallRemoval } from '../../../src/store/api/calls/calls.ts'

/** Takes all steps of an expiry. @returns how many calls were removed */
export async function expireAll(
  removal: CallRemoval,
  expiry: CallExpiry,
  signal = new AbortController().signal,
): Promise<number> {
  let calls = 0
  while (!signal.aborted) {
    const step = await removal.expireCalls(expiry, signal)
    calls += step.calls
    if (step.isDone) break
  }
  return calls
}

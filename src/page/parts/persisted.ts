/** Persists unsent input while other views are shown, until a reload and for one user only. */
import { effect, type Signal, signal } from '@preact/signals'
import { key } from '../api/key.ts'

/** Limit: persisted inputs; the most recently opened ones remain. */
const KEPT_MAX = 100

type Name = readonly (string | null)[]

let kept = new Map<string, Signal<unknown>>()

// A new map, so that late writes from a view of the last user are lost.
effect(() => {
  void key.value
  kept = new Map()
})

/** @param name - includes the project; @param first - makes the initial value */
export function persistedSignal<T>(name: Name, first: () => T): Signal<T> {
  const text = JSON.stringify(name)
  const found = (kept.get(text) ?? signal<unknown>(first())) as Signal<T>
  kept.delete(text)
  kept.set(text, found as Signal<unknown>)
  const [oldest] = kept.keys()
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
  return found
}

export function forgetPersisted(name: Name): void {
  kept.delete(JSON.stringify(name))
}

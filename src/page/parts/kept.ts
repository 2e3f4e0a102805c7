/** What was typed and not sent yet, kept while other views are shown: until a reload, and for one user only. */
import { effect, type Signal, signal } from '@preact/signals'
import { key } from '../api/key.ts'

/** Limit: things that are kept, those that were opened last. */
const KEPT_MAX = 100

type Name = readonly (string | null)[]

let kept = new Map<string, Signal<unknown>>()

// A new map: what comes late from a view of the last user goes nowhere.
effect(() => {
  void key.value
  kept = new Map()
})

/** @param name - with the project; `first` makes what is kept under a new one */
export function keptSignal<T>(name: Name, first: () => T): Signal<T> {
  const text = JSON.stringify(name)
  const found = (kept.get(text) ?? signal<unknown>(first())) as Signal<T>
  kept.delete(text)
  kept.set(text, found as Signal<unknown>)
  const [oldest] = kept.keys()
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
  return found
}

export function forgetKept(name: Name): void {
  kept.delete(JSON.stringify(name))
}

/** The name of what a view shows, where its address has an id. */
import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

/** The last name that a view has read. */
const known = signal<{ readonly id: string; readonly name: string } | null>(null)

/** Returns the name of an id that the current view has read; null while it has not. */
export function nameOfSubject(id: string): string | null {
  return known.value?.id === id ? known.value.name : null
}

/** Names the subject of the view. @param name - null while it is unknown */
export function useSubjectName(id: string, name: string | null): void {
  useLayoutEffect(() => {
    if (name !== null) known.value = { id, name }
  }, [id, name])
}

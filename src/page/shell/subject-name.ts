/** The name of what a view shows, where its address has an id. */
import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

/** The last name that a view has read. */
const known = signal<{ readonly id: string; readonly name: string } | null>(null)

/** Returns the name of an id that the current view has read; null while it has not. */
export function nameOfSubject(id: string): string | null {
  return known.value?.id === id ? known.value.name : null
}

/** Names the subject of the view; by its id where it has loaded and has no name. */
export function useSubjectName(id: string, isLoading: boolean, name: string | undefined): void {
  const shown = name ?? (isLoading ? null : id)
  useLayoutEffect(() => {
    if (shown !== null) known.value = { id, name: shown }
  }, [id, shown])
}

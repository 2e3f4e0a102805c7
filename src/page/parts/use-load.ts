/** Loads what a view shows, again when what it depends on has changed, and drops answers that came too late. */
import { useEffect, useState } from 'preact/hooks'
import { wordsOf } from '../api/client.ts'

export interface Loaded<T> {
  /** What came last; it stays while newer things load. */
  readonly value: T | null
  readonly failure: string | null
  readonly isLoading: boolean
}

/** @param name - of what is loaded; a new one loads anew */
export function useLoad<T>(name: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ value: null, failure: null, isLoading: true })
  useEffect(() => {
    const abort = new AbortController()
    setLoaded(({ value }) => ({ value, failure: null, isLoading: true }))
    load(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setLoaded({ value, failure: null, isLoading: false })
      },
      (error) => {
        const failure = wordsOf(error)
        if (!abort.signal.aborted) setLoaded(({ value }) => ({ value, failure, isLoading: false }))
      },
    )
    return () => abort.abort()
  }, [name])
  return loaded
}

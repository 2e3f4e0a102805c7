/** Loads the data of a view, again when its dependencies have changed, and drops responses that arrive too late. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { errorText, isUnreachable } from '../../api/client.ts'
import { usePause } from './use-pause.ts'

/** Pause before a server that could not be reached is requested again. */
const RETRY_MS = 3000

export interface Loaded<T> {
  /** The last value; it stays while a newer one loads. */
  readonly value: T | null
  readonly failure: string | null
  readonly isLoading: boolean
  /** Whether the value is still that of another name. */
  readonly isOther: boolean
}

/**
 * @param name - identifies the value; a new name loads another one
 * @param load - may pass on a partial value before the complete one; it is called again while the server cannot be reached
 * @param turn - a new number loads the same again. If that fails, the old value stays. Under a new name it is removed,
 *   since it would be mistaken for the new value.
 */
export function useLoad<T>(
  name: string,
  load: (signal: AbortSignal, tell: (part: T) => void) => Promise<T>,
  turn: number | string = 0,
): Loaded<T> {
  const [loaded, setLoaded] = useState<Omit<Loaded<T>, 'isOther'>>({
    value: null,
    failure: null,
    isLoading: true,
  })
  const [retries, setRetries] = useState(0)
  const isWaiting = useRef(false)
  const shownName = useRef(name)
  // Immediately, not with the next frame.
  useLayoutEffect(() => {
    const abort = new AbortController()
    // An error stays shown until the next result: otherwise it would flicker in views that poll.
    setLoaded((last) => (last.isLoading ? last : { ...last, isLoading: true }))
    const show = (next: typeof loaded) => {
      shownName.current = name
      setLoaded(next)
    }
    const tell = (value: T) => {
      if (!abort.signal.aborted) show({ value, failure: null, isLoading: true })
    }
    load(abort.signal, tell).then(
      (value) => {
        if (!abort.signal.aborted) show({ value, failure: null, isLoading: false })
      },
      (error) => {
        if (abort.signal.aborted) return
        const isKept = shownName.current === name
        isWaiting.current = isUnreachable(error)
        const failure = isWaiting.current
          ? `${errorText(error)} It is requested again every ${RETRY_MS / 1000} seconds.`
          : errorText(error)
        setLoaded(({ value }) => ({ value: isKept ? value : null, failure, isLoading: false }))
      },
    )
    return () => abort.abort()
  }, [name, turn, retries])
  const canRetry = isWaiting.current && loaded.failure !== null && !loaded.isLoading
  usePause(canRetry ? RETRY_MS : null, () => setRetries((last) => last + 1))
  return { ...loaded, isOther: loaded.value !== null && shownName.current !== name }
}

/** Counts up while somebody looks: views that depend on the count load anew. */
import { useEffect, useState } from 'preact/hooks'

/** @param intervalMs - null: not at all */
export function usePoll(intervalMs: number | null): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    if (intervalMs === null) return
    const next = () => setCount((last) => last + 1)
    const timer = setInterval(() => document.hidden || next(), intervalMs)
    const onVisible = () => document.hidden || next()
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [intervalMs])
  return count
}

/** Pauses between two polls. */
import { useEffect } from 'preact/hooks'

/**
 * Calls back once after a pause, and only while the page is visible.
 *
 * @param pauseMs - null ends the pause; it begins when there is a number again
 */
export function usePause(pauseMs: number | null, onEnd: () => void): void {
  useEffect(() => {
    if (pauseMs === null) return
    const end = () => {
      if (!document.hidden) onEnd()
    }
    const timer = setTimeout(end, pauseMs)
    document.addEventListener('visibilitychange', end)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', end)
    }
  }, [pauseMs])
}

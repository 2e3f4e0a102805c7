/** Actions of buttons, such as those of the rows of a list, and how the last one went. */
import { useState } from 'preact/hooks'
import { errorText } from '../../api/client.ts'

/**
 * @param onDone - called after an action that succeeded
 * @returns `act`, which runs an action that returns what it did, in words, or null; and what the last one did, or why it
 *   failed
 */
export function useAction(onDone: () => void) {
  const [done, setDone] = useState<string | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const act = async (work: () => Promise<string | null>) => {
    setFailure(null)
    setDone(null)
    try {
      setDone(await work())
      onDone()
    } catch (error) {
      setFailure(errorText(error))
    }
  }
  return { act, done, failure }
}

/** The handler of a button that ignores the second click of a double click, as it may have another meaning then. */
export function notTwice(click: () => unknown) {
  return (event: MouseEvent) => {
    if (event.detail < 2) click()
  }
}

export type Act = ReturnType<typeof useAction>['act']

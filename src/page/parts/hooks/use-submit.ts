/** What forms share: sending one request after the other, and reading fields. */
import { useRef, useState } from 'preact/hooks'
import { errorText } from '../../api/client.ts'

/**
 * @param send - called with the event; that of a form names the button
 * @returns the handler of the form, and why the last time failed; null: it did not
 */
export function useSubmit(send: (event: Event) => Promise<void>) {
  const [failure, setFailure] = useState<string | null>(null)
  // A ref, because a state would change only with the next render.
  const isSending = useRef(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isSending.current) return
    isSending.current = true
    setFailure(null)
    try {
      await send(event)
    } catch (error) {
      setFailure(errorText(error))
    }
    isSending.current = false
  }
  return { submit, failure }
}

/** Ignores the second click of a double click on a button that submits. */
export function clickOnce(event: MouseEvent): void {
  if (event.detail > 1) event.preventDefault()
}

/** @returns the listener of a field that sets its text */
export function textOf(set: (text: string) => void) {
  return (event: InputEvent) => set((event.target as HTMLInputElement).value)
}

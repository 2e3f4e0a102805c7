/**
 * Batches the messages of the model's process: a separate message for every token would take longer than the token.
 */
import type { FromEngine } from './engine-messages.ts'

/** How long a message may wait for others: less than anyone notices. */
const WAIT_MS_MAX = 1
/** Limit: so many messages do not wait for more. */
const MESSAGES_MAX = 256

/** Messages on their way to the server. */
interface Outbox {
  post(message: FromEngine): void
  /** Sends what has waited long enough. To be called after every step. */
  flush(): void
  /** Sends everything. To be called before there is nothing to do. */
  flushAll(): void
}

/**
 * An empty outbox.
 *
 * @param send - gets the messages in order, at least one at a time
 * @param now - milliseconds, never going back
 */
export function createOutbox(
  send: (messages: readonly FromEngine[]) => void,
  now: () => number,
): Outbox {
  let waiting: FromEngine[] = []
  let since = 0
  const flushAll = (): void => {
    if (waiting.length === 0) return
    const messages = waiting
    waiting = []
    send(messages)
  }
  return {
    post(message) {
      if (waiting.length === 0) since = now()
      waiting.push(message)
    },
    flush() {
      const isDue = waiting.length >= MESSAGES_MAX || now() - since >= WAIT_MS_MAX
      if (waiting.length > 0 && isDue) flushAll()
    },
    flushAll,
  }
}

/** One connection to an upstream over HTTP/1.1: a request at a time, and its answer. */
import type { Connect } from './connector.ts'
import {
  type AnswerReceiver,
  createResponseReader,
  type ResponseReader,
} from './response-reader.ts'

/** Who waits for an answer. One of `onEnd` and `onError` comes last, unless it was aborted. */
export interface Receiver extends AnswerReceiver {
  /** Why there is no whole answer: an error of the connection, or an ApiError of the reader. */
  onError(error: unknown): void
}

/** A request on its way; once it has ended only `distrust` does anything. */
export interface Sending {
  /** Reads no more of the answer. */
  pause(): void
  resume(): void
  /** Cuts the connection, in every phase; the receiver hears no more. */
  abort(): void
  /**
   * What came was no answer to the request, so the next one might get what belongs to this one: cuts the
   * connection even when the request has ended, and fails a request that came after it.
   */
  distrust(): void
}

export interface ConnectionOwner {
  /** An answer is whole and another request may go. @param keptS - as of ResponseReader.reusableS, never 0 */
  onFree(keptS: number | null): void
  /** The connection is gone; called once. */
  onClosed(): void
}

export interface Connection {
  /** Sends a request. The first may go before the connection stands, others after `onFree` only. */
  send(text: string, receiver: Receiver): Sending
  /** Whether it looks open from here. */
  isOpen(): boolean
  close(): void
}

interface Task {
  readonly text: string
  readonly receiver: Receiver
  readonly reader: ResponseReader
  isSent: boolean
}

/** Begins a connection. While no request is on its way it keeps no process alive. */
export function createConnection(connect: Connect, owner: ConnectionOwner): Connection {
  let task: Task | null = null
  let isReady = false
  let isLost = false
  const socket = connect(read, (error) => {
    isReady = error === null
    if (error !== null) lose(error)
    else write()
  })
  socket.on('end', () => {
    if (task?.reader.finish()) task = null
    lose(new Error('the upstream closed the connection'))
  })
  socket.on('error', lose)
  socket.on('close', () => lose(new Error('the connection was closed')))

  function write(): void {
    if (task === null || task.isSent) return
    task.isSent = true
    socket.write(task.text)
  }

  function read(bytes: Buffer): void {
    // Nobody asked: it would be taken for the answer to the next request.
    if (task === null || !task.isSent) {
      lose(new Error('the upstream answered unasked'))
      return
    }
    const { reader } = task
    try {
      if (reader.push(bytes) < bytes.length) socket.destroy()
    } catch (error) {
      lose(error)
      return
    }
    if (reader.isEnded()) release(reader)
  }

  function release(reader: ResponseReader): void {
    task = null
    const keptS = reader.reusableS()
    // What is left of a request that was answered before it was read would go in front of the next one.
    if (keptS === 0 || !socket.writable || socket.writableLength > 0) {
      socket.destroy()
      return
    }
    // Its reader may have held it back until the end.
    socket.resume()
    socket.unref()
    owner.onFree(keptS)
  }

  function lose(error: unknown): void {
    const lost = task
    task = null
    socket.destroy()
    if (isLost) return
    isLost = true
    owner.onClosed()
    lost?.receiver.onError(error)
  }

  return {
    isOpen: () => socket.writable,
    close: () => void socket.destroy(),
    send(text, receiver) {
      const own: Task = { text, receiver, reader: createResponseReader(receiver), isSent: false }
      task = own
      socket.ref()
      // Not at once: what the upstream sent or closed meanwhile is seen first, and the requests of one turn of
      // the event loop go out together, which wakes the upstream less often.
      if (isReady) setImmediate(write)
      return {
        pause: () => void (task === own && socket.pause()),
        resume: () => void (task === own && socket.resume()),
        abort() {
          if (task !== own) return
          task = null
          socket.destroy()
        },
        distrust: () => lose(new Error('the upstream gave an answer that is none')),
      }
    },
  }
}

/** The thread's side of startThread. */
import { parentPort, type Transferable } from 'node:worker_threads'
import { type Failure, renderFailure } from './thread-failure.ts'

/** A request to a thread. A message to a thread is a list of them, or null: end. */
export interface ThreadCall<Request> {
  readonly id: number
  readonly request: Request
  /** Four bytes: nonzero when nobody waits for the reply any more. */
  readonly cancelled?: SharedArrayBuffer
}

interface ThreadReply extends Failure {
  readonly id: number
  readonly value?: unknown
}

/** A message from a thread is a list of these. */
export type FromThread = ThreadReply | { readonly notice: unknown }

export interface ThreadServer<Request, Reply> {
  /**
   * @param isCancelled - whether nobody waits for the reply any more
   * @returns what survives structured clone; its byte arrays that own their memory are transferred
   */
  run(request: Request, isCancelled: () => boolean): Reply | Promise<Reply>
  /** Must let the thread end; called after the last request. */
  close?(): void
}

/**
 * Sends a notice, in order with the replies: at once, since work that blocks the thread may follow, or in one message
 * with the next reply.
 */
export type Notify<Notice> = (notice: Notice, isWithReply?: boolean) => void

/** Creates the server of a thread. */
export type OpenServer<Request, Reply, Notice = never> = (
  notify: Notify<Notice>,
) => ThreadServer<Request, Reply>

/** Serves the calls of the thread that started this one. */
export function serveThread<Request, Reply, Notice = never>(
  open: OpenServer<Request, Reply, Notice>,
): void {
  const port = parentPort
  if (port === null) throw new Error('it must be started as a worker thread')
  let messages: FromThread[] = []
  let isScheduled = false

  function send(): void {
    isScheduled = false
    if (messages.length === 0) return
    const sent = messages
    messages = []
    port?.postMessage(
      sent,
      sent.flatMap((message) => ownBuffers('value' in message && message.value)),
    )
  }

  /** Messages that become ready together, as the replies of one commit, are sent together. */
  function add(message: FromThread): void {
    messages.push(message)
    if (!isScheduled) queueMicrotask(send)
    isScheduled = true
  }

  const server = open((notice, isWithReply = false) => {
    messages.push({ notice })
    if (!isWithReply) send()
  })
  port.on('message', (calls: readonly ThreadCall<Request>[] | null) => {
    for (const call of calls ?? []) void replyTo(server, call).then(add)
    if (calls !== null) return
    server.close?.()
    // Runs after the last replies are posted, which a microtask does.
    setImmediate(() => port.close())
  })
}

/** Runs a call. Never rejects. */
export async function replyTo<Request>(
  server: ThreadServer<Request, unknown>,
  { id, request, cancelled }: ThreadCall<Request>,
): Promise<ThreadReply> {
  const flag = cancelled && new Int32Array(cancelled)
  try {
    return {
      id,
      value: await server.run(request, () => flag !== undefined && Atomics.load(flag, 0) !== 0),
    }
  } catch (error) {
    return { id, ...renderFailure(error) }
  }
}

/** Returns the buffers of byte arrays, also in lists, that are a value or its members. */
function ownBuffers(value: unknown): Transferable[] {
  if (typeof value !== 'object' || value === null) return []
  const buffers = new Set<ArrayBuffer>()
  const members =
    value instanceof Uint8Array ? [value] : Array.isArray(value) ? [] : Object.values(value)
  for (const member of members) {
    const list: readonly unknown[] = Array.isArray(member) ? member : [member]
    for (const bytes of list) {
      if (!(bytes instanceof Uint8Array)) break
      const { buffer } = bytes as Uint8Array<ArrayBuffer>
      if (bytes.byteLength === buffer.byteLength) buffers.add(buffer)
    }
  }
  return [...buffers]
}

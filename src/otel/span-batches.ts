/**
 * Transfers the calls of a large trace request from the thread that reads it: in batches on demand, so that neither
 * side handles all of them in one turn of its event loop.
 */
import type { MessagePort } from 'node:worker_threads'
import type { CallParts } from '../domain/calls/new-call.ts'
import { type PackedCalls, packCalls } from '../domain/calls/packed-calls.ts'
import type { ReadSpans } from './read-request.ts'

/** Limit: calls of one batch, and so of one commit. */
const BATCH_CALLS = 1000
/** Limit: characters of its bodies; one call alone may have more. */
const BATCH_CHARACTERS = 4 * 1024 * 1024

/** A request without its calls. */
export type SpansHead = Omit<ReadSpans, 'calls'>

/** Messages to the receiver: the head, then batches, then null. */
type Sent = SpansHead | PackedCalls<CallParts> | null

/** Calls in their order, in parts of bounded size. */
export function* packBatches(calls: readonly CallParts[]): Generator<PackedCalls<CallParts>> {
  let [from, characters] = [0, 0]
  for (const [at, call] of calls.entries()) {
    const length = charactersOf(call)
    const isFull = at - from === BATCH_CALLS || characters + length > BATCH_CHARACTERS
    if (isFull && at > from) {
      yield packCalls(calls.slice(from, at))
      from = at
      characters = 0
    }
    characters += length
  }
  if (from < calls.length) yield packCalls(calls.slice(from))
}

function charactersOf({ start, end }: CallParts): number {
  const { attributes_json, inputs_json, otel_dump_json } = start ?? {}
  const texts = [attributes_json, inputs_json, otel_dump_json, end?.output_json, end?.summary_json]
  return texts.reduce((sum: number, text) => sum + (text?.length ?? 0), 0)
}

/** In the thread. Resolves when all was asked for, or the other side has closed. */
export async function sendSpans(port: MessagePort, { calls, ...head }: ReadSpans): Promise<void> {
  const batches = packBatches(calls)
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  port.once('close', resolve)
  port.on('message', () => {
    const next = batches.next()
    port.postMessage((next.done ? null : next.value) satisfies Sent)
    if (next.done) port.close()
  })
  port.postMessage(head satisfies Sent)
  await closed
}

/**
 * On the main thread.
 *
 * @param failed - rejects when the thread cannot go on
 */
export function receiveSpans(port: MessagePort, failed: Promise<never>) {
  const arrived: Sent[] = []
  let wake = () => {}
  port.on('message', (message: Sent) => {
    arrived.push(message)
    wake()
  })

  async function take(): Promise<Sent> {
    while (arrived.length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      wake = resolve
      await Promise.race([promise, failed])
    }
    return arrived.shift() ?? null
  }

  return {
    head: take as () => Promise<SpansHead>,
    /** One batch is on its way while another one is written. */
    async *batches(): AsyncGenerator<PackedCalls<CallParts>> {
      port.postMessage('next')
      for (let batch = await take(); batch !== null; batch = await take()) {
        port.postMessage('next')
        yield batch as PackedCalls<CallParts>
      }
    },
    close: () => port.close(),
  }
}

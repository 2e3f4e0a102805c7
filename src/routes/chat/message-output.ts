/** Produces one message, whole or as events: one that its engine made passes as it came, others are made from a chat. */
import { toChunk } from '../../domain/chat/message-deltas.ts'
import { createMessageAssembly } from '../../domain/chat/messages/message-assembly.ts'
import {
  createMessageWriter,
  type MessageEvent,
  type MessageHead,
} from '../../domain/chat/messages/messages-events.ts'
import { renderJson } from '../../domain/json/json-text.ts'
import { renderNamedEvent } from '../../http/stream/sse.ts'
import type { Delta } from '../../inference/backend.ts'
import { renderChunks } from '../../inference/chat/chunks.ts'
import type { MessageRun } from '../../inference/chat/message-run.ts'
import { RECORDED_CHARS_MAX } from '../../inference/chat/record/completion-record.ts'
import type { ResponseEnvelope } from '../../inference/chat/whole-completion.ts'
import { parseCompletion, renderTyped } from './response-run.ts'

/** Limit: characters of a message that is made here. */
const MESSAGE_CHARS_MAX = 64 * 1024 * 1024
/** The first chunk has the tokens of the prompt if the model knows them. */
const CHUNKS = { includeUsage: true, continuousUsage: true } as const

interface MessageOutput {
  /** Returns the JSON text of the message. @throws the error of the model */
  whole(run: MessageRun): Promise<string>
  /** Yields the events of the message, each text a whole event. @throws the error of the model */
  events(run: MessageRun): AsyncGenerator<readonly string[]>
  /** The message so far as JSON text, `null` before it began; for its record. */
  output(): string
  /** Whether the record leaves text out. */
  isCut(): boolean
}

interface OutputOptions {
  readonly head: MessageHead
  readonly envelope: ResponseEnvelope
  /** Whether `output` is needed. */
  readonly isRecorded: boolean
}

export function createMessageOutput({ head, envelope, isRecorded }: OutputOptions): MessageOutput {
  const assembly = createMessageAssembly(RECORDED_CHARS_MAX)
  /** A whole message. */
  let json: string | null = null

  function render(event: MessageEvent): string {
    if (isRecorded) assembly.add(event)
    return renderNamedEvent(event.type, JSON.stringify(event))
  }

  async function* passed(deltas: AsyncIterable<Delta>): AsyncGenerator<readonly string[]> {
    for await (const delta of deltas) {
      if (delta.type !== 'relayed') continue
      if (isRecorded) for (const { value } of delta.texts) assembly.add(value)
      yield delta.texts.map((text) => renderTyped(String(text.value.type), text.json))
    }
  }

  async function* translated(deltas: AsyncIterable<Delta>): AsyncGenerator<readonly string[]> {
    const writer = createMessageWriter(head)
    for await (const texts of renderChunks(deltas, envelope, CHUNKS)) {
      const events = texts.flatMap((text) => writer.add(parseCompletion(text)))
      if (events.length > 0) yield events.map(render)
    }
    yield writer.end().map(render)
  }

  return {
    async whole(run) {
      const answer = await run.whole()
      json = run.isPassed() ? answer : renderWhole(answer, head)
      return json
    },
    async *events(run) {
      const deltas = run.stream()
      const first = await deltas.next()
      if (first.done) return
      const all = prepend(first.value, deltas)
      yield* run.isPassed() ? passed(all) : translated(all)
    },
    output: () => json ?? renderJson(assembly.message()),
    isCut: assembly.isCut,
  }
}

/** @throws ApiError upstream_invalid_response for what a message cannot hold */
function renderWhole(completion: string, head: MessageHead): string {
  const writer = createMessageWriter(head)
  const assembly = createMessageAssembly(MESSAGE_CHARS_MAX)
  for (const event of writer.add(toChunk(parseCompletion(completion)))) assembly.add(event)
  for (const event of writer.end()) assembly.add(event)
  assembly.requireInputs()
  return renderJson(assembly.message())
}

async function* prepend<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield first
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

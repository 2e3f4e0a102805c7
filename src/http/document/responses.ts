/** Describes responses that are not JSON objects for the OpenAPI document: bytes, lines, events. */
import { z } from 'zod'
import { ChatCompletionChunk, ChatCompletionResponse } from '../../schemas/chat/chat-response.ts'
import { GenerateContentResponse } from '../../schemas/chat/gemini/content-response.ts'
import { MessageEvent, MessageObject } from '../../schemas/chat/messages/message-object.ts'
import { ResponseEvent, ResponseObject } from '../../schemas/chat/responses/response-object.ts'
import { SpokenText } from '../../schemas/chat/services/audio.ts'
import { TextCompletionResponse } from '../../schemas/chat/services/text-completion.ts'
import { JSON_LINES } from '../stream/json-lines.ts'

const BYTES = 'application/octet-stream'

/** Describes the bytes of a file. */
export function bytesResponse(description: string) {
  return {
    description,
    content: { [BYTES]: { schema: z.string().meta({ format: 'binary', description: 'Bytes.' }) } },
  }
}

/** Describes a file of one of several media types. */
export function fileResponse(description: string, types: readonly string[]) {
  const schema = z.string().meta({ description: 'The whole file.' })
  return { description, content: Object.fromEntries(types.map((type) => [type, { schema }])) }
}

/** Describes generated speech. */
export function audioResponse() {
  const bytes = z.string().meta({ format: 'binary', description: 'Audio.' })
  return {
    description: 'The audio, with the content type that the engine reports.',
    content: { 'audio/*': { schema: bytes }, 'application/octet-stream': { schema: bytes } },
  }
}

/** Describes a transcript in the requested format. */
export function transcriptResponse() {
  const events = z.string().meta({ description: 'With `stream`: the events of the engine.' })
  const text = z.string().meta({ description: 'Text or subtitles.' })
  return {
    description: 'The transcript: JSON, or text in the requested format.',
    content: {
      'application/json': { schema: SpokenText },
      'text/plain': { schema: text },
      'text/vtt': { schema: text },
      'text/event-stream': { schema: events },
    },
  }
}

/** Describes the responses of OTLP, each in both encodings. */
export function otlpResponses(stored: z.ZodType, failure: z.ZodType) {
  const bytes = z.string().meta({ format: 'binary', description: 'The same in protobuf.' })
  const inEither = (schema: z.ZodType, description: string) => ({
    description,
    content: { 'application/json': { schema }, 'application/x-protobuf': { schema: bytes } },
  })
  const where = 'in the encoding of the request.'
  return {
    200: inEither(stored, `Stored, except for what \`partialSuccess\` reports; ${where}`),
    '4xx': inEither(failure, `Refused: the body says why, ${where}`),
    '5xx': inEither(failure, `Not done, or not known to be done: the body says why, ${where}`),
  }
}

/** Describes JSON objects, one per line. @param item - their schema, which has a name in the document */
export function linesResponse(description: string, item: z.ZodType) {
  const schema = z.string().meta({
    description: 'One JSON object per line.',
    'x-item-schema': refTo(item),
  })
  return { description, content: { [JSON_LINES]: { schema } } }
}

/** Describes a chat completion, whole or as chunks. */
export function completionResponse() {
  return wholeOrEvents('completion', ChatCompletionResponse, {
    item: ChatCompletionChunk,
    described: chunksOf('a ChatCompletionChunk'),
  })
}

/** Describes a legacy text completion, whole or as chunks of the same shape. */
export function textCompletionResponse() {
  return wholeOrEvents('completion', TextCompletionResponse, {
    item: TextCompletionResponse,
    described: chunksOf('a TextCompletionResponse'),
  })
}

/** Describes a response of the Responses API, whole or as typed events. */
export function responseOrEvents() {
  return wholeOrEvents('response', ResponseObject, {
    item: ResponseEvent,
    described:
      'events with the name of their type, whose `data` is a ResponseEvent as JSON; the last one is ' +
      'response.completed, response.incomplete, response.failed or error.',
  })
}

/** Describes a message of the Messages API, whole or as typed events. */
export function messageOrEvents() {
  return wholeOrEvents('message', MessageObject, {
    item: MessageEvent,
    described:
      'events with the name of their type, whose `data` is a MessageEvent as JSON; the last one is ' +
      'message_stop or error.',
  })
}

/** Describes a response of the Gemini API as events. */
export function contentEvents() {
  const schema = z.string().meta({
    description:
      'Events whose `data` is a GenerateContentResponse as JSON; a failure is an `error`.',
    'x-item-schema': refTo(GenerateContentResponse),
  })
  return { description: 'The response in parts.', content: { 'text/event-stream': { schema } } }
}

function chunksOf(item: string): string {
  return (
    `events whose \`data\` is ${item} as JSON, then one whose data is \`[DONE]\`. ` +
    'A failure after the first event is an event with an ErrorResponse.'
  )
}

interface Events {
  /** Schema of the JSON of one event. */
  readonly item: z.ZodType
  readonly described: string
}

function wholeOrEvents(name: string, schema: z.ZodType, { item, described }: Events) {
  const description = `With \`stream\`: ${described}`
  const events = z.string().meta({ description, 'x-item-schema': refTo(item) })
  return {
    description: `The ${name}: JSON, or with \`stream\` server-sent events.`,
    content: { 'application/json': { schema }, 'text/event-stream': { schema: events } },
  }
}

const DESCRIPTIONS: readonly (readonly [string, string])[] = [
  ['2', 'The answer.'],
  ['4', 'Refused, and nothing was done: the body says why.'],
  ['5', 'Not done, or not known to be done: the body says why.'],
]

interface Operation {
  readonly responses?: Readonly<Record<string, { description: string }>>
}

/** Replaces the framework's placeholder for responses without a description. */
export function describeResponses<T extends object>(document: T): T {
  const { paths } = document as { paths?: Readonly<Record<string, Record<string, Operation>>> }
  for (const operation of Object.values(paths ?? {}).flatMap((item) => Object.values(item))) {
    for (const [status, answer] of Object.entries(operation.responses ?? {})) {
      if (answer.description !== 'Default Response') continue
      answer.description = DESCRIPTIONS.find(([first]) => status.startsWith(first))?.[1] ?? ''
    }
  }
  return document
}

function refTo(schema: z.ZodType) {
  return { $ref: `#/components/schemas/${z.globalRegistry.get(schema)?.id}` }
}

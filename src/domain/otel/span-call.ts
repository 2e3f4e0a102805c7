/** Converts a span to the start and the end of a call. Pure. The whole span is kept as `attributes.otel_span`. */
import type { TimedEnd, TimedStart } from '../calls/new-call.ts'
import { isObject } from '../json/is-object.ts'
import { isConverse, readConverseParts } from './dialects/converse-parts.ts'
import { readLangChain } from './dialects/langchain-messages.ts'
import { readOpenAi, readResponseItems } from './dialects/response-items.ts'
import { MODEL_KINDS } from './dialects/step-kinds.ts'
import { roleOfEvent } from './message-roles.ts'
import { joinChunks, splitRun } from './output-messages.ts'
import { type Attributes, requireUsableSpan, type Span } from './span.ts'
import {
  type ChatMessage,
  hasContent,
  joinItems,
  toMessages,
  toToolCalls,
} from './span-messages.ts'
import { type Found, parseText, readSpanFields, type SpanReader } from './span-reader.ts'
import { readRequest, type SpanRequest } from './span-request.ts'
import { toTools } from './span-tools.ts'
import { readSpanUsage } from './span-usage.ts'

/** Limit: characters of an operation's name, as of a call that is started; longer ones are cut. */
const OP_NAME_MAX = 1024

interface SpanCall {
  readonly start: TimedStart
  readonly end: TimedEnd
  /** Whether the span has no end: that of the call means nothing then. */
  readonly isRunning: boolean
}

/**
 * The call of a span: its id is the span's, so that a span that comes twice is stored once.
 *
 * @throws SpanError for a span without ids or times
 */
export function toSpanCall(span: Span, project_id: string): SpanCall {
  requireUsableSpan(span)
  const reader = readSpanFields(span)
  const { kind } = reader
  const provider = reader.takeText('provider')
  const given = provider === null ? {} : { provider }
  const usage = readSpanUsage(reader)
  const request = readRequest(reader, provider)
  const inputs = readInputs(span, reader, request)
  const output = readOutput(span, reader, request)
  const op = reader.takeText('op')
  const displayName = reader.takeText('displayName')
  const thread_id = reader.takeId('thread')
  const turn_id = reader.takeId('turn')
  const user = reader.takeText('user')
  const { answering } = request
  const counted = answering ?? 'unknown'
  const repeats = reader.take('repeated') !== null
  const isModelCall = !repeats && (kind === null ? answering !== null : MODEL_KINDS.has(kind))
  return {
    isRunning: span.end_ns <= 0n,
    start: {
      project_id,
      id: span.span_id,
      trace_id: span.trace_id,
      parent_id: span.parent_span_id,
      thread_id,
      turn_id,
      op_name: nameOf(op ?? span.name),
      display_name: displayName === null ? null : nameOf(displayName),
      started_at_us: toUs(span.start_ns),
      attributes: {
        ...(kind === null ? {} : { kind }),
        ...given,
        ...(user === null ? {} : { user }),
        ...reader.rest(),
      },
      inputs,
      otel_dump: dumpSpan(span),
    },
    end: {
      project_id,
      id: span.span_id,
      ended_at_us: toUs(span.end_ns > span.start_ns ? span.end_ns : span.start_ns),
      output,
      exception: readException(span, reader),
      summary:
        usage !== null && isModelCall ? { usage: { [counted]: { ...usage, ...given } } } : {},
    },
  }
}

function readInputs(
  span: Span,
  reader: SpanReader,
  { requested, settings }: SpanRequest,
): Record<string, unknown> {
  const sent = reader.take('messages')
  const system = reader.take('system')
  const messages = [
    ...(system ? systemMessages(system.value) : []),
    ...(sent
      ? toMessages(readItems(eventItems(sent.value, false)), 'user', sent.form)
      : eventMessages(span, false)),
  ]
  const tools = reader.take('tools')
  const input = reader.take('input')
  // What a library repeats as one value beside its messages is not shown twice.
  const isValue = input !== null && !messages.some(hasContent)
  return {
    ...(requested === null ? {} : { model: requested }),
    ...settings,
    ...(messages.length > 0 && !isValue ? { messages } : {}),
    ...(tools ? { tools: toTools(tools.value) } : {}),
    ...(isValue ? valueFields(input.value, 'value') : {}),
  }
}

/** Items that libraries have in place of messages. */
function readItems(value: unknown): unknown {
  return readResponseItems(readOpenAi(readLangChain(value)))
}

/** Settings of the system come as parts, as texts or as messages. */
function systemMessages(value: unknown): ChatMessage[] {
  const isParts = Array.isArray(value) && value.every((item) => isObject(item) && !('role' in item))
  return toMessages(isParts ? [{ role: 'system', parts: value }] : value, 'system', 'json')
}

function readOutput(span: Span, reader: SpanReader, { settings }: SpanRequest): unknown {
  const answered = reader.take('answers')
  const calls = reader.take('toolCalls')
  const finish = reader.take('finish')
  const items = answered
    ? answersOf(answered, reader)
    : calls
      ? [{ role: 'assistant', content: null } as ChatMessage]
      : [...eventMessages(span, true), ...laterAnswers(reader)]
  const messages = Number(settings.n ?? 1) > 1 ? items : joinItems(items)
  const [first] = messages
  if (first && calls) first.tool_calls = toToolCalls(calls.value)
  else if (first?.content === null && !(first.tool_calls ?? first.function_call))
    addFunctionCalls(first, reader)
  const thoughts = first && reader.takeText('thoughts')
  if (thoughts) first.reasoning_content = thoughts
  const output = reader.take('output') ?? vectorsOf(reader) ?? reader.eventOutput()
  // A value may tell what messages of nothing but a role leave out, such as a refusal.
  if (output && !messages.some(hasContent)) return output.value
  if (messages.length === 0) return null
  const reasons = readReasons(finish?.value)
  const { choices: answers, run } = splitRun(messages)
  const choices = answers.map(({ finish_reason, ...message }, index) => ({
    index,
    message,
    finish_reason: finish_reason ?? reasons[index] ?? reasons[0] ?? null,
  }))
  return run === null ? { choices } : { choices, messages: run }
}

/** The reasons of the choices: a list, as JSON too, or the text that Java makes of one, such as `[stop]`. */
function readReasons(value: unknown): string[] {
  const texts = [parseText(value)].flat().filter((reason) => typeof reason === 'string')
  return texts.flatMap((text) => /^\[(.+)\]$/.exec(text)?.[1]?.split(', ') ?? text)
}

/** Messages of nothing but a role are those that LangChain has in the output, if it has some. */
function answersOf({ value, form }: Found, reader: SpanReader): ChatMessage[] {
  const messages = toMessages(joinChunks(readItems(value)), 'assistant', form)
  if (messages.some(hasContent)) return messages
  const output = reader.take('output')?.value
  const items = readLangChain(output)
  return items === output ? messages : toMessages(items, 'assistant', 'json')
}

/** The vectors of embedded texts. A request that failed has only the texts. */
function vectorsOf(reader: SpanReader): { value: unknown } | null {
  const value = reader.take('embeddings')?.value
  if (!Array.isArray(value)) return null
  const vectors = value.map((item) => (isObject(item?.embedding) ? item.embedding.vector : null))
  return vectors.every((vector) => vector !== undefined && vector !== null)
    ? { value: vectors }
    : null
}

function addFunctionCalls(message: ChatMessage, reader: SpanReader): void {
  const completions = reader.take('functionCalls')?.value
  if (!Array.isArray(completions)) return
  const calls = completions.map((item) => (isObject(item) ? item.function_call : null))
  if (calls.some(isObject)) message.tool_calls = toToolCalls(calls)
}

/** Answers that a dialect keeps in the same list as its prompts. */
function laterAnswers(reader: SpanReader): ChatMessage[] {
  const events = reader.take('messages')
  return events ? toMessages(eventItems(events.value, true), 'assistant', events.form) : []
}

/** Of a list of events the questions, or the answers; other lists hold questions alone. */
function eventItems(value: unknown, isAnswer: boolean): unknown {
  const isEvents =
    Array.isArray(value) && value.some((item) => isObject(item) && 'event.name' in item)
  if (!isEvents) return isAnswer ? [] : value
  const isChoice = (item: unknown) => isObject(item) && item['event.name'] === 'gen_ai.choice'
  return value.filter((item) => isChoice(item) === isAnswer)
}

/** Events that hold all messages in one attribute: name to attribute. */
const QUESTION_EVENTS: ReadonlyMap<string, string> = new Map([
  ['gen_ai.client.inference.operation.details', 'gen_ai.input.messages'],
  ['gen_ai.content.prompt', 'gen_ai.prompt'],
])
const ANSWER_EVENTS: ReadonlyMap<string, string> = new Map([
  ['gen_ai.client.inference.operation.details', 'gen_ai.output.messages'],
  ['gen_ai.content.completion', 'gen_ai.completion'],
])

/** Messages that came as events of the span, as the conventions before 1.37 have them. */
function eventMessages(span: Span, isAnswer: boolean): ChatMessage[] {
  return span.events.flatMap(({ name, attributes }) => {
    const key = (isAnswer ? ANSWER_EVENTS : QUESTION_EVENTS).get(name)
    if (key !== undefined) {
      const system = isAnswer ? undefined : attributes['gen_ai.system_instructions']
      const held = attributes[key]
      return [
        ...(system === undefined ? [] : systemMessages(parseText(system))),
        ...(held === undefined
          ? []
          : toMessages(joinChunks(parseText(held)), isAnswer ? 'assistant' : 'user', 'json')),
      ]
    }
    const role = roleOfEvent(name)
    if (role === null || (name === 'gen_ai.choice') !== isAnswer) return []
    return toMessages([eventMessage(span, role, attributes)], role, 'flattened')
  })
}

/** The message of one event. That of an answer may be an object, its text, or its text alone; Azure has all as one text. */
function eventMessage(span: Span, role: string, attributes: Attributes): Record<string, unknown> {
  const whole = parseText(attributes['gen_ai.event.content'])
  const { content, message, ...others } = isObject(whole) ? fieldsOfContent(whole) : attributes
  const fields = Object.entries(others).map(([key, value]) => [key, parseText(value)])
  const parsed = parseText(message)
  const told = isObject(parsed) ? { message: parsed } : { content: content ?? message }
  const parts = isConverse(span) ? readConverseParts(told.content) : null
  return { role, ...Object.fromEntries(fields), ...told, ...(parts === null ? {} : { parts }) }
}

/** Azure's client for JavaScript spells the calls of an answer in its own way. */
function fieldsOfContent(whole: Attributes): Attributes {
  const { message } = whole
  if (!isObject(message) || message.toolCalls === undefined) return whole
  return { ...whole, message: { ...message, tool_calls: message.toolCalls } }
}

function valueFields(value: unknown, name: string): Record<string, unknown> {
  return isObject(value) ? { ...value } : { [name]: value }
}

/** What Azure's client for JavaScript (1.0.0-beta.6) prints of an error, whose exception has the message. */
const PRINTED_OBJECT = '[object Object]'

/** The text of a span's error: its status, else what the exception or the observation of Langfuse says of itself. */
function readException({ attributes, events, status }: Span, reader: SpanReader): string | null {
  const thrown = events.find(({ name }) => name === 'exception')?.attributes
  // Langfuse's wrapper for JavaScript leaves the status of the span unset.
  const isFailed = status.code === 2 || attributes['langfuse.observation.level'] === 'ERROR'
  if (!isFailed && !(thrown && reader.failsByException())) return null
  if (status.message !== '' && status.message !== PRINTED_OBJECT) return status.message
  const parts = [thrown?.['exception.type'], thrown?.['exception.message']]
  const texts = [
    parts.filter(isFilled).join(': '),
    attributes['langfuse.observation.status_message'],
    attributes['error.type'],
  ]
  return texts.find(isFilled) ?? 'error'
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** The span as JSON: what no field of the call holds can be read here. */
function dumpSpan(span: Span): Record<string, unknown> {
  const { start_ns, end_ns, ...rest } = span
  return {
    ...rest,
    start_time_unix_nano: String(start_ns),
    end_time_unix_nano: String(end_ns),
  }
}

/** Nanoseconds to microseconds; the rest stays in the span. */
function toUs(ns: bigint): number {
  return Number(ns / 1000n)
}

function nameOf(name: string): string {
  const visible = name.replace(/[\p{Cc}\p{Cs}]/gu, ' ').trim()
  return visible === '' ? 'span' : visible.slice(0, OP_NAME_MAX).toWellFormed()
}

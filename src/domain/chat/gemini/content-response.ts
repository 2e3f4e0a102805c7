/** Writes chunks of a chat as responses of Google's Gemini API. Pure. */
import { isObject } from '../../json/is-object.ts'
import {
  countOrZero,
  filledTextOrNull,
  objectOrEmpty,
  textOrEmpty,
} from '../../json/json-values.ts'
import { findUsage } from '../engine-dialects.ts'
import { createMessageDeltas, type DeltaSink } from '../message-deltas.ts'
import { invalidToolInput, parseToolInput } from '../messages/message-assembly.ts'
import { renderSignature } from './signature.ts'

type Fields = Readonly<Record<string, unknown>>

interface ContentHead {
  readonly responseId: string
  readonly modelVersion: string
  /** Whether the response has the thoughts. */
  readonly showsThoughts: boolean
}

interface ContentWriter {
  /** Returns the response for a chunk; null for one without texts. @throws ApiError upstream_invalid_response */
  add(chunk: Fields): Fields | null
  /** Returns the last response: calls, reasons of the ends, and usage. @throws as `add` */
  end(): Fields
  /** Returns the response for a whole completion. @throws as `add` */
  whole(completion: Fields): Fields
}

/**
 * Spec: §4 (contents are an addition).
 * Choice: calls are whole, and in the last response: a part of this API holds no piece of arguments.
 */
export function createContentWriter({ showsThoughts, ...head }: ContentHead): ContentWriter {
  const candidates = new Map<number, Candidate>()
  let usage: Fields = {}

  function candidate(index: number): Candidate {
    const known = candidates.get(index)
    if (known !== undefined) return known
    const made = createCandidate(showsThoughts)
    candidates.set(index, made)
    return made
  }

  /** Returns the texts of a chunk, by the number of the candidate. */
  function read(chunk: Fields): (readonly [number, Fields[]])[] {
    usage = findUsage(chunk) ?? usage
    const choices = (Array.isArray(chunk.choices) ? chunk.choices : []).map(objectOrEmpty)
    return choices.map((choice) => {
      const index = typeof choice.index === 'number' ? choice.index : 0
      return [index, candidate(index).add(choice)]
    })
  }

  function end(texts: ReadonlyMap<number, Fields[]> = new Map()): Fields {
    if (candidates.size === 0) candidate(0)
    const ended = [...candidates].map(([index, one]) => {
      const { parts, finishReason } = one.end()
      const all = [...(texts.get(index) ?? []), ...parts]
      return { content: { parts: all, role: 'model' }, finishReason, index }
    })
    return { candidates: ended, usageMetadata: toUsage(usage), ...head }
  }

  return {
    add(chunk) {
      const said = read(chunk).flatMap(([index, parts]) =>
        parts.length > 0 ? [{ content: { parts, role: 'model' }, index }] : [],
      )
      return said.length > 0 ? { candidates: said, ...head } : null
    },
    end: () => end(),
    whole: (completion) => end(new Map(read(completion))),
  }
}

const FINISH_REASONS: Readonly<Record<string, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  function_call: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
}

interface Call {
  readonly name: string
  readonly id: string | null
  arguments: string
  extra: unknown
}

interface Candidate {
  /** Returns the parts of a choice that are texts. */
  add(choice: Fields): Fields[]
  end(): { readonly parts: Fields[]; readonly finishReason: string }
}

function createCandidate(showsThoughts: boolean): Candidate {
  let parts: Fields[] = []
  let finish = 'stop'
  let reasoning_details: unknown[] = []
  const calls = new Map<number, Call>()
  const sink: DeltaSink = {
    addText(kind, text) {
      if (kind !== 'reasoning_text') parts.push({ text })
      else if (showsThoughts) parts.push({ text, thought: true })
    },
    addCitation: () => true,
    hasCall: (number) => calls.has(number),
    openCall: ({ name, id, number }) =>
      void calls.set(number, { name, id: filledTextOrNull(id), arguments: '', extra: null }),
    addArguments(number, text) {
      const call = calls.get(number)
      if (call !== undefined) call.arguments += text
    },
  }
  const deltas = createMessageDeltas(sink)

  function noteExtras(delta: Fields): void {
    for (const [at, piece] of (Array.isArray(delta.tool_calls) ? delta.tool_calls : []).entries()) {
      const { index = at, extra_content } = objectOrEmpty(piece)
      const call = calls.get(Number(index))
      if (call !== undefined && isObject(extra_content)) call.extra = extra_content
    }
  }

  function renderCall({ name, id, arguments: json, extra }: Call, details: unknown[]): Fields {
    const signature = renderSignature({ reasoning_details: details, extra_content: extra })
    const functionCall = {
      ...(id === null ? {} : { id }),
      name,
      args: parseArguments(json, finish),
    }
    return { functionCall, ...(signature === null ? {} : { thoughtSignature: signature }) }
  }

  return {
    add({ delta, message, finish_reason }) {
      const said = objectOrEmpty(delta ?? message)
      deltas.add(said, null)
      noteExtras(said)
      if (Array.isArray(said.reasoning_details)) {
        reasoning_details = [...reasoning_details, ...said.reasoning_details.filter(hasSecret)]
      }
      if (typeof finish_reason === 'string') finish = finish_reason
      const taken = parts
      parts = []
      return taken
    },
    end() {
      deltas.requireNamed()
      const rendered = [...calls.values()].map((call, at) =>
        renderCall(call, at === 0 ? reasoning_details : []),
      )
      const own =
        calls.size > 0 ? null : renderSignature({ reasoning_details, extra_content: null })
      const signed = own === null ? [] : [{ text: '', thoughtSignature: own }]
      return { parts: [...rendered, ...signed], finishReason: FINISH_REASONS[finish] ?? 'OTHER' }
    },
  }
}

/** Whether a detail holds what its maker needs again. */
function hasSecret(detail: unknown): boolean {
  const { signature, data } = objectOrEmpty(detail)
  return textOrEmpty(signature) !== '' || textOrEmpty(data) !== ''
}

function parseArguments(json: string, finish: string): Fields {
  const args = json.trim() === '' ? {} : parseToolInput(json)
  // Arguments that the limit of tokens has cut are left out.
  if (args === null && finish !== 'length') throw invalidToolInput()
  return args ?? {}
}

/** Counts of this API: thoughts lie beside the candidates, and cached input is part of the prompt. */
function toUsage(usage: Fields): Fields {
  const prompt = countOrZero(usage.prompt_tokens)
  const completion = countOrZero(usage.completion_tokens)
  const cached = countOrZero(objectOrEmpty(usage.prompt_tokens_details).cached_tokens)
  const thoughts = countOrZero(objectOrEmpty(usage.completion_tokens_details).reasoning_tokens)
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: Math.max(0, completion - thoughts),
    totalTokenCount: prompt + completion,
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
  }
}

/** Converts the parts of a stream of the AI SDK to chunks of a chat. Blocks may overlap. */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import {
  type Metadata,
  mergeMetadata,
  pickMetadata,
  toExtraContent,
} from '../../domain/chat/continuation.ts'
import {
  type Fields,
  type PartOf,
  type ResponseNames,
  toAnnotation,
  toCallDetails,
  toDetails,
  toImage,
} from './completion.ts'

interface ChunkTranslation {
  /** Returns the chunks of the next part, other than the end. */
  add(part: LanguageModelV4StreamPart): Fields[]
  /** Returns the last chunks; the one of the usage has no choices. */
  end(finishReason: string, usage: Fields | null): Fields[]
}

export function createChunkTranslation(names: ResponseNames): ChunkTranslation {
  let { id, model } = names
  let isBegun = false

  function chunk(choices: readonly Fields[], more: Fields = {}): Fields {
    const { created } = names
    return { id, object: 'chat.completion.chunk', created, model, choices, ...more }
  }
  const say: Say = (delta, finish_reason = null) => {
    const head = isBegun ? {} : { role: 'assistant', content: '' }
    isBegun = true
    return [chunk([{ index: 0, delta: { ...head, ...delta }, logprobs: null, finish_reason }])]
  }
  const calls = createCallChunks(say)
  const thoughts = createThoughtChunks(say, names)

  return {
    add(part) {
      switch (part.type) {
        case 'response-metadata':
          id = part.id ?? id
          model = part.modelId ?? model
          return []
        case 'text-delta':
          return part.delta === '' ? [] : say({ content: part.delta })
        case 'reasoning-start':
        case 'reasoning-delta':
        case 'reasoning-end':
          return thoughts.add(part)
        case 'tool-input-start':
        case 'tool-input-delta':
        case 'tool-call':
          return calls.add(part)
        case 'file':
          return say({ images: [toImage(part)] })
        case 'source':
          return toAnnotation(part).flatMap((annotation) => say({ annotations: [annotation] }))
        default:
          return []
      }
    },
    end: (finishReason, usage) => [
      ...thoughts.end(),
      ...say({}, finishReason),
      ...(usage === null ? [] : [chunk([], { usage })]),
    ],
  }
}

/** Returns the chunk of a delta. */
type Say = (delta: Fields, finishReason?: string | null) => Fields[]

interface OpenCall {
  readonly index: number
  hasInput: boolean
  isSigned: boolean
}

function createCallChunks(say: Say) {
  const calls = new Map<string, OpenCall>()

  const sayArguments = ({ index }: OpenCall, text: string) =>
    say({ tool_calls: [{ index, function: { arguments: text } }] })

  function begin(id: string, name: string, metadata: unknown): Fields[] {
    const kept = pickMetadata(metadata)
    const details = toCallDetails(id, kept)
    const index = calls.size
    calls.set(id, { index, hasInput: false, isSigned: details.length > 0 })
    const called = { name, arguments: '' }
    return [
      ...(details.length > 0 ? say({ reasoning_details: details }) : []),
      ...say({
        tool_calls: [{ index, id, type: 'function', function: called, ...toExtraContent(kept) }],
      }),
    ]
  }

  /** Some packages know the signature only at the end of a call. */
  function sign(call: OpenCall, { toolCallId, providerMetadata }: PartOf<'tool-call'>): Fields[] {
    const kept = call.isSigned ? null : pickMetadata(providerMetadata)
    const details = toCallDetails(toolCallId, kept)
    if (details.length === 0) return []
    call.isSigned = true
    return [
      ...say({ reasoning_details: details }),
      ...say({ tool_calls: [{ index: call.index, ...toExtraContent(kept) }] }),
    ]
  }

  function finish(part: PartOf<'tool-call'>): Fields[] {
    const { toolCallId, toolName, input, providerMetadata } = part
    const begun = calls.has(toolCallId) ? [] : begin(toolCallId, toolName, providerMetadata)
    const call = calls.get(toolCallId)
    if (call === undefined) return begun
    const rest = call.hasInput ? [] : sayArguments(call, input === '' ? '{}' : input)
    call.hasInput = true
    return [...begun, ...rest, ...sign(call, part)]
  }

  return {
    add(part: PartOf<'tool-input-start' | 'tool-input-delta' | 'tool-call'>): Fields[] {
      if (part.type === 'tool-input-delta') {
        const call = calls.get(part.id)
        if (call === undefined || part.delta === '') return []
        call.hasInput = true
        return sayArguments(call, part.delta)
      }
      // The provider has run such a tool itself.
      if (part.providerExecuted) return []
      if (part.type === 'tool-call') return finish(part)
      return begin(part.id, part.toolName, part.providerMetadata)
    },
  }
}

function createThoughtChunks(say: Say, { showsReasoning }: ResponseNames) {
  const open = new Map<string, { text: string; metadata: Metadata | null }>()

  function end(id: string): Fields[] {
    const { text, metadata } = open.get(id) ?? { text: '', metadata: null }
    open.delete(id)
    const details = toDetails(text, metadata)
    return details.length > 0 ? say({ reasoning_details: details }) : []
  }

  return {
    add(part: PartOf<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>): Fields[] {
      const thought = open.get(part.id) ?? { text: '', metadata: null }
      open.set(part.id, thought)
      thought.metadata = mergeMetadata(thought.metadata, part.providerMetadata)
      if (part.type === 'reasoning-end') return end(part.id)
      const text = part.type === 'reasoning-delta' && showsReasoning ? part.delta : ''
      thought.text += text
      return text === '' ? [] : say({ reasoning: text, reasoning_content: text })
    },
    end: () => [...open.keys()].flatMap(end),
  }
}

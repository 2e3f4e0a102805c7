/**
 * Reads contents in the format of Amazon's Converse API, which Strands Agents writes as JSON into the events of all its
 * spans, whatever the model. Pure.
 */
import { isObject } from '../../json/is-object.ts'
import type { Span } from '../span.ts'
import { parseText } from '../span-reader.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Whether contents of the span's events have this format. Other libraries write texts there, which may read like it. The
 * scope of Strands for JavaScript (1.19) is the name of the service.
 */
export function isConverse({ scope, attributes }: Span): boolean {
  return (
    scope.name.startsWith('strands.') ||
    attributes['gen_ai.system'] === 'strands-agents' ||
    'agent_loop.cycle_id' in attributes
  )
}

/** The parts of a content in the spelling of the conventions; null for a text. */
export function readConverseParts(content: unknown): Json[] | null {
  const list = parseText(content)
  if (typeof content !== 'string' || !Array.isArray(list) || !list.every(isObject)) return null
  return list.map(toPart)
}

function toPart(block: Json): Json {
  const { text, reasoningContent, type } = block
  // Answers of Strands for JavaScript have the fields of a block beside its type.
  const held: Json = typeof type === 'string' ? { [type]: block } : block
  const { toolUse, toolResult } = held
  if (typeof text === 'string') return { type: 'text', text }
  if (isObject(toolUse)) {
    const { toolUseId, name, input } = toolUse
    return { type: 'tool_call', id: toolUseId, name, arguments: input }
  }
  if (isObject(toolResult)) {
    const { toolUseId, content } = toolResult
    return { type: 'tool_call_response', id: toolUseId, response: joinTexts(content) }
  }
  const thought = isObject(reasoningContent) ? reasoningContent.reasoningText : null
  return isObject(thought) ? { type: 'reasoning', content: thought.text } : block
}

/** One text where a result is texts. */
function joinTexts(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  const texts = content.map((block) => (isObject(block) ? block.text : null))
  return texts.every((text) => typeof text === 'string') ? texts.join('') : content
}

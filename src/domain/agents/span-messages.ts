/** The messages of an agent span, read from the bodies of its call. Pure. */
import type { AgentMessage } from '../../schemas/agents/agent-spans.ts'
import { isObject } from '../json/is-object.ts'
import { objectOrEmpty, textOrEmpty } from '../json/json-values.ts'
import type { AgentSpan } from './agent-span.ts'

interface SpanMessages {
  readonly input: readonly AgentMessage[]
  readonly output: readonly AgentMessage[]
  /** Texts of the system among the input. */
  readonly system: readonly string[]
  readonly reasoning: string | null
  /** Tool calls that the responses request. */
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[]
}

/** The messages of a span; none where its call has none, or its bodies were not read. */
export function readSpanMessages({ call }: AgentSpan): SpanMessages {
  const { messages } = objectOrEmpty(JSON.parse(call.inputs_json ?? 'null'))
  const { choices } = objectOrEmpty(JSON.parse(call.output_json ?? 'null'))
  const sent = listOf(messages)
  const received = listOf(choices).map((choice) => ({
    ...objectOrEmpty(choice.message),
    finish_reason: choice.finish_reason,
  })) as Record<string, unknown>[]
  const reasoning = received.map((message) => textOrEmpty(message.reasoning_content)).join('')
  return {
    input: sent.map(toMessage),
    output: received.map(toMessage),
    system: sent.filter(({ role }) => role === 'system').map((each) => contentOf(each)),
    reasoning: reasoning === '' ? null : reasoning,
    toolCalls: received.flatMap(({ tool_calls }) =>
      listOf(tool_calls).map((item) => {
        const called = objectOrEmpty(item.function)
        return { name: textOrEmpty(called.name), arguments: textOrEmpty(called.arguments) }
      }),
    ),
  }
}

/** The texts of a user; those of unknown roles where no message is a user's. */
export function promptOf({ input }: SpanMessages): string {
  const prompts = textsOf(input, (role) => role === 'user')
  if (prompts.length > 0) return prompts.join('\n\n')
  return textsOf(input, (role) => !NO_PROMPTS.has(role)).join('\n\n')
}

/** The texts of the model. */
export function responseOf({ output }: SpanMessages): string {
  return textsOf(output, (role) => role !== 'user').join('\n\n')
}

const NO_PROMPTS = new Set(['assistant', 'system', 'tool'])

/** Tool calls without a text are left out. */
function textsOf(messages: readonly AgentMessage[], isWanted: (role: string) => boolean): string[] {
  return messages
    .filter(({ role, content }) => isWanted(role) && content !== '')
    .map(({ content }) => content)
}

function toMessage(message: Record<string, unknown>): AgentMessage {
  return {
    role: textOrEmpty(message.role),
    content: contentOf(message),
    finish_reason: textOrEmpty(message.finish_reason),
  }
}

function contentOf({ content }: Record<string, unknown>): string {
  if (typeof content === 'string') return content
  return content === null || content === undefined ? '' : JSON.stringify(content)
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

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
  /** Tool calls that the answers ask for. */
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[]
}

/** Nothing where the call holds no messages, or its bodies were not read. */
export function readSpanMessages({ call }: AgentSpan): SpanMessages {
  const { messages } = objectOrEmpty(JSON.parse(call.inputs_json ?? 'null'))
  const { choices } = objectOrEmpty(JSON.parse(call.output_json ?? 'null'))
  const asked = listOf(messages)
  const answers = listOf(choices).map((choice) => ({
    ...objectOrEmpty(choice.message),
    finish_reason: choice.finish_reason,
  })) as Record<string, unknown>[]
  const reasoning = answers.map((answer) => textOrEmpty(answer.reasoning_content)).join('')
  return {
    input: asked.map(toMessage),
    output: answers.map(toMessage),
    system: asked.filter(({ role }) => role === 'system').map((each) => contentOf(each)),
    reasoning: reasoning === '' ? null : reasoning,
    toolCalls: answers.flatMap(({ tool_calls }) =>
      listOf(tool_calls).map((item) => {
        const called = objectOrEmpty(item.function)
        return { name: textOrEmpty(called.name), arguments: textOrEmpty(called.arguments) }
      }),
    ),
  }
}

/** What a user asked; texts of unknown roles where no message is a user's. */
export function questionOf({ input }: SpanMessages): string {
  const asked = textsOf(input, (role) => role === 'user')
  if (asked.length > 0) return asked.join('\n\n')
  return textsOf(input, (role) => !NO_QUESTIONS.has(role)).join('\n\n')
}

export function answerOf({ output }: SpanMessages): string {
  return textsOf(output, (role) => role !== 'user').join('\n\n')
}

const NO_QUESTIONS = new Set(['assistant', 'system', 'tool'])

/** Tool calls without a text say nothing. */
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

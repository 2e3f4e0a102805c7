/** What the provider answers, whichever protocol it is asked in, and the ledger of what it answered. */

interface Counts {
  /** With the cached and the written ones. */
  readonly input: number
  readonly cached: number
  /** 0 where the protocol has no such count. */
  readonly written: number
  /** With the reasoning ones. */
  readonly output: number
  /** 0 where the protocol has no such count. */
  readonly reasoning: number
}

export interface Answer extends Counts {
  readonly number: number
  readonly protocol: string
  readonly model: string
  readonly isStream: boolean
  readonly isFailure: boolean
  readonly question: string
  readonly text: string
  /** The call of a tool in place of a text. */
  readonly tool: { readonly id: string; readonly name: string; readonly arguments: string } | null
}

export interface Asked {
  readonly protocol:
    | 'chat'
    | 'responses'
    | 'embeddings'
    | 'anthropic'
    | 'gemini'
    | 'bedrock'
    | 'ollama'
  readonly model: string
  readonly isStream: boolean
  /** The last text of the user. */
  readonly question: string
  /** The whole request, for the forms that some libraries ask for. */
  readonly whole: string
  /** Names of the tools. */
  readonly tools: readonly string[]
  readonly hasToolResult: boolean
}

const HAS_WRITTEN: ReadonlySet<string> = new Set(['responses', 'anthropic', 'bedrock'])
const HAS_REASONING: ReadonlySet<string> = new Set(['chat', 'responses', 'gemini'])

export const ledger: Answer[] = []

/**
 * Every answer has counts that no other one has. A question with the word `weather` is answered by a call of the first
 * tool, one with `Please fail` by an error.
 */
export function answer(asked: Asked): Answer {
  const { protocol, question, whole } = asked
  const number = ledger.length + 1
  const isEmbedding = protocol === 'embeddings'
  const isFailure = /Please fail/.test(question)
  const text = `Answer ${number} of the provider.`
  const answered: Answer = {
    number,
    protocol,
    model: asked.model,
    isStream: asked.isStream,
    isFailure,
    question,
    input: isFailure ? 0 : 2003 + 101 * number,
    cached: isFailure || isEmbedding || protocol === 'ollama' ? 0 : 301 + 7 * number,
    written: isFailure || !HAS_WRITTEN.has(protocol) ? 0 : 503 + 11 * number,
    output: isFailure || isEmbedding ? 0 : 157 + 13 * number,
    reasoning: isFailure || !HAS_REASONING.has(protocol) ? 0 : 61 + 3 * number,
    text: whole.includes('[[ ## ') ? `[[ ## answer ## ]]\n${text}\n\n[[ ## completed ## ]]` : text,
    tool: toolOf(asked, number, text),
  }
  ledger.push(answered)
  return answered
}

function toolOf({ tools, hasToolResult, question }: Asked, number: number, text: string) {
  const id = `call_${number}`
  // The tool by which smolagents ends.
  if (tools.includes('final_answer') && (hasToolResult || !/weather/.test(question))) {
    return { id, name: 'final_answer', arguments: JSON.stringify({ answer: text }) }
  }
  const [name] = tools.filter((tool) => tool !== 'final_answer')
  if (name === undefined || hasToolResult || !/weather/.test(question)) return null
  return { id, name, arguments: '{"city":"Paris"}' }
}

export const FAILURE = 'The provider fails as it was asked to.'
/** The reasoning that protocols show. */
export const thoughtOf = ({ number }: Answer): string => `Thought ${number} of the provider.`
/** The pieces of a text in a stream. */
export const piecesOf = (text: string): string[] => text.match(/.{1,12}/gs) ?? []

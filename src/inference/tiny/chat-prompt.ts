/**
 * Turns messages into the ids of a prompt, by the model's own chat template.
 * What a client writes must never become a control token: only the template's own text can.
 */
import { Template } from '@huggingface/jinja'
import { ApiError } from '../../errors.ts'
import { ModelFileError } from './gguf.ts'
import type { Tokenizer } from './tokenizer.ts'

/** A message as templates see it. */
export interface PromptMessage {
  readonly role: string
  readonly content: string
  readonly name?: string
  readonly tool_call_id?: string
  readonly tool_calls?: readonly unknown[]
}

/** Makes prompts for one model. */
export interface ChatPrompt {
  /**
   * The ids of a conversation.
   *
   * @param addGenerationPrompt - whether the template opens the assistant's answer
   * @throws ApiError context_length_exceeded for texts that surely do not fit, invalid_value when the
   * template refuses the messages
   */
  encode(messages: readonly PromptMessage[], addGenerationPrompt: boolean): number[]
}

/** Characters that no text needs; one that a conversation does not use marks its control texts. */
const MARKS_FROM = 0xe000
const MARKS_TO = 0xf8ff
const LEVELS_MAX = 32

/**
 * A prompt maker.
 *
 * @param contextTokens - tokens of prompt and answer together
 * @throws ModelFileError when the template cannot be parsed
 */
export function createChatPrompt(
  source: string,
  tokenizer: Tokenizer,
  contextTokens: number,
): ChatPrompt {
  const template = parseTemplate(source)
  const { controlTexts } = tokenizer
  const openings = controlTexts.length === 0 ? null : openingsOf(controlTexts)
  const controls = new RegExp(`(${controlTexts.map(escapeRegExp).join('|')})`, 'u')
  return {
    encode(messages, addGenerationPrompt) {
      const texts = textsOf(messages)
      const length = texts.reduce((sum, text) => sum + text.length, 0)
      // No token has more bytes than the longest one, and no message takes less than a token.
      const isTooLong = length > contextTokens * tokenizer.tokenBytesMax
      if (isTooLong || messages.length > contextTokens) throw promptTooLong(contextTokens, null)
      if (openings === null) {
        return tokenizer.encode(render(template, messages, addGenerationPrompt))
      }
      const mark = findMark(source, texts)
      const marked = mapTexts(messages, (text) => text.replaceAll(openings, `$<first>${mark}`), 0)
      const rendered = render(template, marked, addGenerationPrompt)
      // Splitting by a group keeps the control texts, at the odd places.
      return rendered.split(controls).flatMap((part, place) => {
        const id = place % 2 === 1 ? tokenizer.controlId(part) : null
        return id === null ? tokenizer.encode(part.replaceAll(mark, '')) : [id]
      })
    },
  }
}

/**
 * The refusal of a prompt that leaves no room for an answer.
 *
 * @param promptTokens - null when it is too long to be counted
 */
export function promptTooLong(contextTokens: number, promptTokens: number | null): ApiError {
  const size = promptTokens === null ? `more than ${contextTokens}` : `${promptTokens}`
  return new ApiError('context_length_exceeded', {
    message: `This model's maximum context length is ${contextTokens} tokens, but the messages make up ${size} tokens and an answer needs at least one. Shorten the messages.`,
    param: 'messages',
  })
}

function render(template: Template, messages: unknown, addGenerationPrompt: boolean): string {
  try {
    return template.render({ messages, add_generation_prompt: addGenerationPrompt })
  } catch (cause) {
    throw new ApiError('invalid_value', {
      message: 'The chat template of the model does not take these messages.',
      param: 'messages',
      cause,
    })
  }
}

function parseTemplate(source: string): Template {
  try {
    return new Template(source)
  } catch (cause) {
    throw new ModelFileError(`the chat template cannot be parsed: ${String(cause)}`)
  }
}

/** Where a control text begins, or could begin if the template's text went on. */
function openingsOf(controlTexts: readonly string[]): RegExp {
  const choices = controlTexts.map((text) => {
    const [first = '', second = ''] = Array.from(text, escapeRegExp)
    return `${first}(?=${second}|$)`
  })
  return new RegExp(`(?<first>${[...new Set(choices)].join('|')})`, 'gu')
}

/** A character that occurs neither in the template nor in the texts, so that it can be taken out again. */
function findMark(source: string, texts: readonly string[]): string {
  const used = new Set([source, ...texts].flatMap((text) => text.match(/[\ue000-\uf8ff]/gu) ?? []))
  for (let code = MARKS_FROM; code <= MARKS_TO; code++) {
    const mark = String.fromCodePoint(code)
    if (!used.has(mark)) return mark
  }
  throw new ApiError('invalid_value', {
    message: 'The messages use every private-use character.',
    param: 'messages',
  })
}

function textsOf(value: unknown): string[] {
  const texts: string[] = []
  mapTexts(
    value,
    (text) => {
      texts.push(text)
      return text
    },
    0,
  )
  return texts
}

/** A copy with every text changed, keys of objects too. */
function mapTexts(value: unknown, change: (text: string) => string, level: number): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (level > LEVELS_MAX) {
    throw new ApiError('invalid_value', {
      message: `A message is nested more than ${LEVELS_MAX} levels deep.`,
      param: 'messages',
    })
  }
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, level + 1))
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([key, item]) => [change(key), mapTexts(item, change, level + 1)]),
  )
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/gu, '\\$&')
}

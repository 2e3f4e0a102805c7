/** Finds and reads the usage that a response, or an event of a streamed one, reports. Pure. */
import { isObject } from '../json/is-object.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns the reported usage, or null. Typed events, such as those of responses, have it in the response of the last
 * one, and Groq has it below `x_groq` in the last chunk.
 *
 * Spec: §4.3 usage (chunk format not shown). Choice: the places where common engines put it.
 */
export function findUsage({ usage, response, x_groq }: Fields): Fields | null {
  if (isObject(usage)) return usage
  if (isObject(response) && isObject(response.usage)) return response.usage
  return isObject(x_groq) && isObject(x_groq.usage) ? x_groq.usage : null
}

/** Returns the tokens of a usage; 0 for each that is missing or no whole number. The total may follow from the others. */
export function readTokens(usage: Fields) {
  const prompt = toCount(usage.prompt_tokens ?? usage.input_tokens)
  const output = toCount(usage.completion_tokens ?? usage.output_tokens)
  return { prompt, output, total: toCount(usage.total_tokens) || prompt + output }
}

function toCount(told: unknown): number {
  return typeof told === 'number' && told > 0 && Number.isSafeInteger(told) ? told : 0
}

/** Finds the text in inputs and outputs that have no messages. Pure. */
import { isExactNumber } from '../api/exact-json.ts'

/** Common names of inputs and outputs with text, the most likely first. */
const SAID = [
  ...['question', 'query', 'prompt', 'message', 'input', 'user_input'],
  ...['answer', 'response', 'output', 'reply', 'content', 'text'],
]

/** The text of a value that has only one, or one under a common name. */
export function onlyTextOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return value
  const texts = Object.entries(value).filter(([, member]) => typeof member === 'string')
  const named = SAID.flatMap((name) => texts.filter(([other]) => other === name))
  const [only] = texts.length === 1 ? texts : named
  return only === undefined ? value : only[1]
}

/**
 * Asks the model sums behind longer and longer conversations, in a context that it was not trained for:
 * how many answers are right to the letter, by the length of the prompt.
 *
 * node lengthen.ts
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTinyBackend, TINY_MODEL_PATH } from '../../src/inference/tiny/backend.ts'
import type { ChatCompletionRequest } from '../../src/schemas/chat/chat-request.ts'

const CONTEXT = 8_192
const LENGTHS = [0, 500, 1_000, 1_500, 1_900, 2_500, 4_000, 6_000, 8_000]
/** Tokens of a question with its answer, in the words of the template. */
const TURN_TOKENS = 30
const U32_BYTES = 4

type Messages = ChatCompletionRequest['messages']

const QUESTIONS: ReadonlyArray<readonly [string, string]> = Array.from(
  { length: 20 },
  (_, place) => {
    const [a, b] = [1 + (place % 5), 2 + (place % 7)]
    return [`What is ${a} plus ${b}?`, `${a} plus ${b} is ${a + b}.`]
  },
)

/** The shipped model, whose file says that it has the larger context. */
function writeLengthened(path: string): void {
  const bytes = Buffer.from(readFileSync(TINY_MODEL_PATH))
  const key = 'llama.context_length'
  // Behind the key stands the kind of the value.
  bytes.writeUInt32LE(CONTEXT, bytes.indexOf(key) + key.length + U32_BYTES)
  writeFileSync(path, bytes)
}

/** Earlier turns, about as many tokens as are wanted. */
function fill(tokens: number): Messages {
  return Array.from({ length: Math.floor(tokens / TURN_TOKENS) }, (_, place) => {
    const [question, answer] = QUESTIONS[(place * 3) % QUESTIONS.length] ?? ['', '']
    return [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ]
  }).flat()
}

const work = mkdtempSync(join(tmpdir(), 'weft-lengthen-'))
const modelPath = join(work, 'long.gguf')
writeLengthened(modelPath)
const backend = createTinyBackend({ queueMax: 1, modelPath })
for (const length of LENGTHS) {
  let right = 0
  let promptTokens = 0
  for (const [question, expected] of QUESTIONS) {
    const messages = [...fill(length), { role: 'user', content: question }]
    const request = { messages, temperature: 0, max_tokens: 40 }
    const call = { request, body: JSON.stringify(request), model: 'tiny', requestId: 'lengthen' }
    let text = ''
    for await (const delta of backend.complete(call, { signal: new AbortController().signal })) {
      if (delta.type === 'prompt') promptTokens = delta.promptTokens
      if (delta.type === 'choice') text += delta.content
    }
    if (text === expected) right++
  }
  process.stdout.write(`${promptTokens} tokens: ${right} of ${QUESTIONS.length} right\n`)
}
await backend.close()
rmSync(work, { recursive: true })

/**
 * Asks a model the questions of questions.py at temperature 0 and prints how many answers are right to the
 * letter, and how many that should be JSON are. Wrong answers go to the error stream.
 *
 * node evaluate.ts questions.jsonl [model.gguf]
 */
import { readFileSync } from 'node:fs'
import { createTinyBackend } from '../../src/inference/tiny/backend.ts'
import type { ChatCompletionRequest } from '../../src/schemas/chat/chat-request.ts'

interface Question {
  readonly kind: string
  readonly request: ChatCompletionRequest
  readonly expected: string
}

interface Score {
  asked: number
  right: number
  /** Answers that should be JSON, bare or as a tool call. */
  forms: number
  parsed: number
}

const [questionsPath = 'questions.jsonl', modelPath] = process.argv.slice(2)
const backend = createTinyBackend({
  queueMax: 1,
  ...(modelPath ? { modelPath } : {}),
})

async function answer(fields: ChatCompletionRequest): Promise<string> {
  const request = { ...fields, temperature: 0, max_tokens: 200 }
  const call = { request, body: JSON.stringify(request), model: 'tiny', requestId: 'evaluate' }
  let text = ''
  let thought = ''
  for await (const delta of backend.complete(call, { signal: new AbortController().signal })) {
    if (delta.type !== 'choice') continue
    text += delta.content
    thought += delta.reasoning ?? ''
  }
  return thought === '' ? text : `<think>${thought}</think>${text}`
}

/** The JSON part of an answer that is nothing but JSON or a tool call; null for other texts. */
function formOf(text: string): string | null {
  const called = /^<tool_call>(?<json>.*)<\/tool_call>$/s.exec(text)?.groups?.json
  return called ?? (/^[{[]/.test(text) ? text : null)
}

function parses(json: string | null): boolean {
  try {
    return json !== null && JSON.parse(json) !== undefined
  } catch {
    return false
  }
}

const scores = new Map<string, Score>()
const lines = readFileSync(questionsPath, 'utf8').trim().split('\n')
for (const line of lines) {
  const { kind, request, expected }: Question = JSON.parse(line)
  const score = scores.get(kind) ?? { asked: 0, right: 0, forms: 0, parsed: 0 }
  scores.set(kind, score)
  const text = await answer(request)
  score.asked++
  if (text === expected) score.right++
  else
    process.stderr.write(
      `${JSON.stringify({ kind, question: request.messages.at(-1)?.content, expected, text })}\n`,
    )
  if (formOf(expected) === null) continue
  score.forms++
  if (parses(formOf(text))) score.parsed++
}
for (const [kind, { asked, right, forms, parsed }] of scores) {
  const form = forms === 0 ? '' : `, ${parsed} of ${forms} valid JSON`
  process.stdout.write(`${kind}: ${right} of ${asked} right${form}\n`)
}
await backend.close()

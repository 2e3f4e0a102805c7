/** A chat completion as it comes. */
import { request } from '../api/client.ts'

export interface Delta {
  readonly content: string
  /** Id of the recorded call; null until it is known. */
  readonly callId: string | null
}

/** The pieces of an answer. @throws ApiFailure, also for an error in the middle of the stream */
export async function* streamCompletion(
  project: string,
  body: object,
  signal: AbortSignal,
): AsyncGenerator<Delta> {
  const headers = { 'compat-project': project }
  const response = await request(
    '/v1/chat/completions',
    { ...body, stream: true },
    { signal, headers },
  )
  const callId = response.headers.get('x-weft-call-id')
  yield { content: '', callId }
  let rest = ''
  const texts = response.body?.pipeThrough(new TextDecoderStream())
  for await (const text of (texts ?? []) as AsyncIterable<string>) {
    const events = (rest + text).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data === undefined || data === '[DONE]') continue
      const { choices, error } = JSON.parse(data) as Chunk
      if (error) throw new Error(error.message)
      const content = choices?.[0]?.delta?.content
      if (content) yield { content, callId }
    }
  }
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[]
  readonly error?: { readonly message: string }
}

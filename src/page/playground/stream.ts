/** A chat completion as it comes. */
import { brokenOff, readJson, request, requestLines, textsOf } from '../api/client.ts'
import type { Chunk } from './completion.ts'

interface Streamed {
  /** Null for the first item, which only has the id of the call. */
  readonly chunk: Chunk | null
  /** Id of the recorded call. */
  readonly callId: string | null
}

/** The chunks of an answer. @throws ApiFailure, Error for an error in the middle of the stream, or one without an end */
export async function* streamCompletion(
  project: string,
  body: object,
  signal: AbortSignal,
): AsyncGenerator<Streamed> {
  const headers = { 'compat-project': project }
  const asked = { ...body, stream: true, stream_options: { include_usage: true } }
  const response = await request('/v1/chat/completions', asked, { signal, headers })
  const callId = response.headers.get('x-weft-call-id')
  yield { chunk: null, callId }
  let rest = ''
  let isDone = false
  for await (const text of textsOf(response)) {
    const events = (rest + text).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      // An event may have several data lines.
      const data = [...event.matchAll(/^data: (.*)$/gm)].map(([, line]) => line).join('\n')
      isDone ||= data === '[DONE]'
      if (data === '' || data === '[DONE]') continue
      const chunk = readJson<Chunk>(data, JSON.parse)
      if (chunk.error) throw new Error(chunk.error.message)
      yield { chunk, callId }
    }
  }
  // A proxy may end an answer in the middle as if it were complete.
  if (!isDone) throw brokenOff()
}

/** The chunks of an answer to a prompt whose variables the server fills in; the recorded call names its version. @throws as streamCompletion */
export async function* streamPrompt(
  project_id: string,
  inputs: object,
  signal: AbortSignal,
): AsyncGenerator<Streamed> {
  const asked = { ...inputs, stream_options: { include_usage: true } }
  const body = { project_id, inputs: asked }
  let callId: string | null = null
  let isDone = false
  for await (const line of requestLines<PromptLine>('/completions/create_stream', body, {
    signal,
  })) {
    if (line.error) throw new Error(line.error.message)
    if (line._meta) {
      callId = line._meta.weave_call_id
      yield { chunk: null, callId }
      continue
    }
    isDone ||= line.choices?.some(({ finish_reason }) => finish_reason) === true
    yield { chunk: line, callId }
  }
  if (!isDone) throw brokenOff()
}

/** A line of the response: where it is recorded, or a chunk. */
interface PromptLine extends Chunk {
  readonly _meta?: { readonly weave_call_id: string | null }
}

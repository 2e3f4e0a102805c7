/** Anthropic's messages, Gemini's generateContent, Bedrock's converse and Ollama's chat. */
import type { ServerResponse } from 'node:http'
import { type Answer, answer, FAILURE, piecesOf } from './answers.ts'
import { type Json, sendEvents, sendJson, textOf } from './http.ts'

const PARSED = ({ arguments: text }: NonNullable<Answer['tool']>): unknown => JSON.parse(text)

export function anthropic(response: ServerResponse, body: Json) {
  const messages = body.messages as Json[]
  const asked = messages.filter(({ role, content }) => role === 'user' && textOf(content) !== '')
  const given = answer({
    protocol: 'anthropic',
    model: String(body.model),
    isStream: body.stream === true,
    question: textOf(asked.at(-1)?.content),
    tools: ((body.tools as Json[] | undefined) ?? []).map(({ name }) => String(name)),
    hasToolResult: JSON.stringify(messages).includes('"tool_result"'),
    whole: JSON.stringify(body),
  })
  if (given.isFailure) {
    const error = { type: 'invalid_request_error', message: FAILURE }
    return sendJson(response, 400, { type: 'error', error, request_id: 'req_1' })
  }
  const { tool, text, number } = given
  const input = {
    input_tokens: given.input - given.cached - given.written,
    cache_read_input_tokens: given.cached,
    cache_creation_input_tokens: given.written,
    cache_creation: { ephemeral_5m_input_tokens: given.written, ephemeral_1h_input_tokens: 0 },
    service_tier: 'standard',
  }
  const block = tool
    ? { type: 'tool_use', id: tool.id, name: tool.name, input: PARSED(tool) }
    : { type: 'text', text, citations: null }
  const message = {
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [block],
    stop_reason: tool ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { ...input, output_tokens: given.output },
  }
  if (!given.isStream) return sendJson(response, 200, message)
  const deltas = tool
    ? [{ type: 'input_json_delta', partial_json: tool.arguments }]
    : piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece }))
  const empty = tool ? { ...block, input: {} } : { type: 'text', text: '' }
  const begun = {
    ...message,
    content: [],
    stop_reason: null,
    usage: { ...input, output_tokens: 1 },
  }
  sendEvents(
    response,
    [
      { type: 'message_start', message: begun },
      { type: 'content_block_start', index: 0, content_block: empty },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: message.stop_reason, stop_sequence: null },
        usage: { output_tokens: given.output },
      },
      { type: 'message_stop' },
    ],
    true,
  )
}

/** @param path - `.../models/MODEL:METHOD` */
export function gemini(response: ServerResponse, body: Json, path: string) {
  const [, model = '', method = ''] = /models\/([^:]+):(\w+)/.exec(path) ?? []
  const contents = body.contents as Json[]
  const asked = contents.filter(({ role, parts }) => role !== 'model' && textOf(parts) !== '')
  const tools = ((body.tools as Json[] | undefined) ?? []).flatMap(
    (tool) => (tool.functionDeclarations ?? tool.function_declarations ?? []) as Json[],
  )
  const given = answer({
    protocol: 'gemini',
    model,
    isStream: method === 'streamGenerateContent',
    question: textOf(asked.at(-1)?.parts),
    tools: tools.map(({ name }) => String(name)),
    hasToolResult: /"function_?response"/i.test(JSON.stringify(contents)),
    whole: JSON.stringify(body),
  })
  if (given.isFailure) {
    return sendJson(response, 400, {
      error: { code: 400, message: FAILURE, status: 'INVALID_ARGUMENT' },
    })
  }
  const { tool, text, number } = given
  const usageMetadata = {
    promptTokenCount: given.input,
    cachedContentTokenCount: given.cached,
    candidatesTokenCount: given.output - given.reasoning,
    thoughtsTokenCount: given.reasoning,
    totalTokenCount: given.input + given.output,
  }
  const part = (piece: string) =>
    tool ? { functionCall: { id: tool.id, name: tool.name, args: PARSED(tool) } } : { text: piece }
  const chunk = (piece: string, isLast: boolean) => ({
    candidates: [
      {
        content: { role: 'model', parts: [part(piece)] },
        index: 0,
        ...(isLast ? { finishReason: 'STOP' } : {}),
      },
    ],
    modelVersion: model,
    responseId: `gen_${number}`,
    ...(isLast ? { usageMetadata } : {}),
  })
  if (!given.isStream) return sendJson(response, 200, chunk(text, true))
  const pieces = tool ? [''] : piecesOf(text)
  sendEvents(
    response,
    pieces.map((piece, at) => chunk(piece, at === pieces.length - 1)),
  )
}

/** @param path - `/model/MODEL/converse` */
export function bedrock(response: ServerResponse, body: Json, path: string) {
  const model = decodeURIComponent(path.split('/')[2] ?? '')
  const messages = body.messages as Json[]
  const asked = messages.filter(({ role, content }) => role === 'user' && textOf(content) !== '')
  const tools = ((body.toolConfig as Json | undefined)?.tools as Json[] | undefined) ?? []
  const given = answer({
    protocol: 'bedrock',
    model,
    isStream: false,
    question: textOf(asked.at(-1)?.content),
    tools: tools.map(({ toolSpec }) => String((toolSpec as Json).name)),
    hasToolResult: JSON.stringify(messages).includes('"toolResult"'),
    whole: JSON.stringify(body),
  })
  if (given.isFailure) {
    response.setHeader('x-amzn-errortype', 'ValidationException')
    return sendJson(response, 400, { message: FAILURE })
  }
  const { tool, text } = given
  const content = tool
    ? [{ toolUse: { toolUseId: tool.id, name: tool.name, input: PARSED(tool) } }]
    : [{ text }]
  sendJson(response, 200, {
    output: { message: { role: 'assistant', content } },
    stopReason: tool ? 'tool_use' : 'end_turn',
    metrics: { latencyMs: 5 },
    usage: {
      inputTokens: given.input - given.cached - given.written,
      cacheReadInputTokens: given.cached,
      cacheWriteInputTokens: given.written,
      outputTokens: given.output,
      totalTokens: given.input + given.output,
    },
  })
}

/** A stream is a JSON object on each line. */
export function ollama(response: ServerResponse, body: Json) {
  const messages = body.messages as Json[]
  const given = answer({
    protocol: 'ollama',
    model: String(body.model),
    isStream: body.stream === true,
    question: textOf(messages.findLast(({ role }) => role === 'user')?.content),
    tools: ((body.tools as { function: Json }[] | undefined) ?? []).map((tool) =>
      String(tool.function.name),
    ),
    hasToolResult: messages.some(({ role }) => role === 'tool'),
    whole: JSON.stringify(body),
  })
  if (given.isFailure) return sendJson(response, 400, { error: FAILURE })
  const { tool, text } = given
  const head = { model: body.model, created_at: '2026-09-21T12:00:00.000000Z' }
  const calls = tool && [{ function: { name: tool.name, arguments: PARSED(tool) } }]
  const line = (content: string) => ({
    ...head,
    message: { role: 'assistant', content, ...(calls ? { tool_calls: calls } : {}) },
    done: false,
  })
  const last = {
    done: true,
    done_reason: 'stop',
    total_duration: 5_000_000,
    load_duration: 1_000_000,
    prompt_eval_count: given.input,
    prompt_eval_duration: 1_000_000,
    eval_count: given.output,
    eval_duration: 3_000_000,
  }
  if (!given.isStream) return sendJson(response, 200, { ...line(tool ? '' : text), ...last })
  const end = { ...head, message: { role: 'assistant', content: '' }, ...last }
  const lines = [...(tool ? [''] : piecesOf(text)).map(line), end]
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  response.end(lines.map((each) => `${JSON.stringify(each)}\n`).join(''))
}

/** OpenAI's protocols: chat completions, responses and embeddings. */
import type { ServerResponse } from 'node:http'
import { type Answer, type Asked, answer, FAILURE, piecesOf, thoughtOf } from './answers.ts'
import { type Json, sendEvents, sendJson, textOf } from './http.ts'

const failure = {
  error: { message: FAILURE, type: 'invalid_request_error', param: null, code: 'asked' },
}

/** @param path - below `/openai/` as Groq has it, below `/mistral/` as Mistral has it: both send usage unasked */
export function chat(response: ServerResponse, body: Json, path: string) {
  const messages = body.messages as Json[]
  const given = answer({
    ...askedOf(body),
    protocol: 'chat',
    question: textOf(messages.findLast(({ role }) => role === 'user')?.content),
    hasToolResult: messages.some(({ role }) => role === 'tool'),
  })
  if (given.isFailure) return sendJson(response, 400, failure)
  const head = { id: `chatcmpl-${given.number}`, created: 1_790_000_000, model: body.model }
  const usage = {
    prompt_tokens: given.input,
    completion_tokens: given.output,
    total_tokens: given.input + given.output,
    prompt_tokens_details: { cached_tokens: given.cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: given.reasoning, audio_tokens: 0 },
  }
  const finish_reason = given.tool ? 'tool_calls' : 'stop'
  if (!given.isStream) {
    const message = { role: 'assistant', refusal: null, ...messageOf(given) }
    const choices = [{ index: 0, message, finish_reason, logprobs: null }]
    return sendJson(response, 200, { ...head, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: Json, reason: string | null = null): Json => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }],
  })
  const deltas = given.tool
    ? [{ tool_calls: [{ index: 0, ...toolCall(given.tool) }] }]
    : piecesOf(given.text).map((content) => ({ content }))
  const options = body.stream_options as Json | undefined
  const last = { ...chunk({}), choices: [], usage }
  const end = {
    ...chunk({}, finish_reason),
    ...(path.startsWith('/openai/') ? { x_groq: { id: `req_${given.number}`, usage } } : {}),
    ...(path.startsWith('/mistral/') ? { usage } : {}),
  }
  sendEvents(response, [
    chunk({ role: 'assistant', content: given.tool ? null : '' }),
    ...deltas.map((delta) => chunk(delta)),
    end,
    ...(options?.include_usage ? [last] : []),
    '[DONE]',
  ])
}

function messageOf({ text, tool }: Answer): Json {
  return tool ? { content: null, tool_calls: [toolCall(tool)] } : { content: text }
}

function toolCall({ id, name, arguments: text }: NonNullable<Answer['tool']>): Json {
  return { id, type: 'function', function: { name, arguments: text } }
}

function askedOf(body: Json): Pick<Asked, 'model' | 'isStream' | 'tools' | 'whole'> {
  const tools = (body.tools as Json[] | undefined) ?? []
  return {
    model: String(body.model),
    isStream: body.stream === true,
    tools: tools.map((tool) => String(((tool.function ?? tool) as Json).name)),
    whole: JSON.stringify(body),
  }
}

export function responses(response: ServerResponse, body: Json) {
  const input =
    typeof body.input === 'string'
      ? [{ role: 'user', content: body.input }]
      : (body.input as Json[])
  const given = answer({
    ...askedOf(body),
    protocol: 'responses',
    question: textOf(input.findLast(({ role }) => role === 'user')?.content),
    hasToolResult: input.some(({ type }) => type === 'function_call_output'),
  })
  if (given.isFailure) return sendJson(response, 400, failure)
  const output = itemsOf(given)
  const whole = {
    id: `resp_${given.number}`,
    object: 'response',
    created_at: 1_790_000_000,
    model: body.model,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    metadata: {},
    output,
    parallel_tool_calls: true,
    previous_response_id: body.previous_response_id ?? null,
    temperature: 1,
    tool_choice: 'auto',
    tools: body.tools ?? [],
    top_p: 1,
    usage: {
      input_tokens: given.input,
      input_tokens_details: { cached_tokens: given.cached, cache_write_tokens: given.written },
      output_tokens: given.output,
      output_tokens_details: { reasoning_tokens: given.reasoning },
      total_tokens: given.input + given.output,
    },
  }
  if (!given.isStream) return sendJson(response, 200, whole)
  let sequence_number = 0
  const event = (type: string, fields: Json) => ({
    type,
    sequence_number: sequence_number++,
    ...fields,
  })
  const begun = { ...whole, status: 'in_progress', output: [], usage: null }
  sendEvents(
    response,
    [
      event('response.created', { response: begun }),
      ...output.flatMap((item, output_index) => [
        event('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress' },
        }),
        ...(item.type === 'message' ? textEvents(event, given, String(item.id), output_index) : []),
        ...(item.type === 'function_call'
          ? [
              event('response.function_call_arguments.done', {
                item_id: item.id,
                output_index,
                name: item.name,
                arguments: item.arguments,
              }),
            ]
          : []),
        event('response.output_item.done', { output_index, item }),
      ]),
      event('response.completed', { response: whole }),
    ],
    true,
  )
}

function textEvents(
  event: (type: string, fields: Json) => Json,
  { text }: Answer,
  item_id: string,
  output_index: number,
): Json[] {
  const at = { item_id, output_index, content_index: 0 }
  return [
    event('response.content_part.added', {
      ...at,
      part: { type: 'output_text', text: '', annotations: [] },
    }),
    ...piecesOf(text).map((delta) =>
      event('response.output_text.delta', { ...at, delta, logprobs: [] }),
    ),
    event('response.output_text.done', { ...at, text, logprobs: [] }),
    event('response.content_part.done', {
      ...at,
      part: { type: 'output_text', text, annotations: [] },
    }),
  ]
}

function itemsOf(given: Answer): Json[] {
  const { number, text, tool } = given
  const reasoning = {
    id: `rs_${number}`,
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: thoughtOf(given) }],
  }
  return [
    reasoning,
    tool
      ? {
          id: `fc_${number}`,
          type: 'function_call',
          status: 'completed',
          call_id: tool.id,
          name: tool.name,
          arguments: tool.arguments,
        }
      : {
          id: `msg_${number}`,
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
        },
  ]
}

export function embeddings(response: ServerResponse, body: Json) {
  const inputs = [body.input].flat()
  const given = answer({
    ...askedOf(body),
    protocol: 'embeddings',
    question: textOf(inputs[0]),
    hasToolResult: false,
  })
  const embedding = [0.25, -0.5, 0.125]
  const bytes = Buffer.from(new Float32Array(embedding).buffer).toString('base64')
  const data = inputs.map((_, index) => ({
    object: 'embedding',
    index,
    embedding: body.encoding_format === 'base64' ? bytes : embedding,
  }))
  const usage = { prompt_tokens: given.input, total_tokens: given.input }
  sendJson(response, 200, { object: 'list', data, model: body.model, usage })
}

/**
 * Completions in the format of the tracing SDKs: the same models, limits and recording as chats, in an
 * envelope that names the project. Additions to the spec.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { canUseProject, requireAccess, requireScope } from '../../domain/access/permissions.ts'
import { toChatDraft, toPromptMessages } from '../../domain/chat/completion-create.ts'
import { renderJson } from '../../domain/json/json-text.ts'
import { parseReadableRef } from '../../domain/objects/readable-ref.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { linesResponse } from '../../http/document/responses.ts'
import { newId } from '../../http/new-id.ts'
import { JSON_LINES } from '../../http/stream/json-lines.ts'
import { renderChunks } from '../../inference/chat/chunks.ts'
import { completeWhole, streamCompletion } from '../../inference/chat/completion-run.ts'
import { COMPLETION_OP_NAME } from '../../inference/chat/record/completion-recorder.ts'
import { resolveResponseEnvelope } from '../../inference/chat/whole-completion.ts'
import { ChatCompletionChunk } from '../../schemas/chat/chat-response.ts'
import {
  CompletionCreateRequest,
  CompletionCreateResponse,
} from '../../schemas/chat/completion-create.ts'
import type { Stores } from '../../store/api/stores.ts'
import { createRefReader, pinRef } from '../objects/ref-reader.ts'
import { chunkOptions } from './chat.ts'
import type { Inference } from './inference.ts'
import { openResponse, sendStream, sendWhole } from './model-exchange.ts'
import { renameErrorParam, renameErrorParams, requireChat } from './rename-error-param.ts'

interface CompletionCreateOptions extends Pick<Stores, 'objects' | 'tables'> {
  readonly inference: Inference
}

const config = { body: 'exact' } as const

export async function completionCreateRoutes(
  app: App,
  options: CompletionCreateOptions,
): Promise<void> {
  app.post(
    '/completions/create',
    {
      config,
      schema: {
        tags: ['inference'],
        operationId: 'createTracedCompletion',
        summary: 'Complete a chat in the format of the tracing SDKs (addition to the spec).',
        body: CompletionCreateRequest,
        shown: { response: { 200: CompletionCreateResponse } },
      },
    },
    async (request, reply) => {
      const { whole, deadline } = await startWholeCompletion(options, request, reply, request.body)
      // Returns nothing: for a value the framework would check whether the reply was sent.
      await sendWhole(reply, whole, deadline)
    },
  )

  app.post(
    '/completions/create_stream',
    {
      config,
      schema: {
        tags: ['inference'],
        operationId: 'streamTracedCompletion',
        summary:
          'Complete a chat in the format of the tracing SDKs, streamed as JSON lines (addition to the spec).',
        body: CompletionCreateRequest,
        shown: {
          response: {
            200: linesResponse(
              'Where it is recorded, as `{"_meta": {"weave_call_id", "trace_id", "conversation_id"}}`, if it is; then its chunks. ' +
                'A failure after the first line is a line with an ErrorResponse.',
              ChatCompletionChunk,
            ),
          },
        },
      },
    },
    async (request, reply) => {
      const asked = await prepare(options, request, reply, request.body, true)
      const { exchange, envelope, deadline, renderPlace } = asked
      const deltas = streamCompletion(exchange, options.inference.run, envelope)
      const chunks = renderChunks(
        renameErrorParams(deltas, toInputsParam),
        envelope,
        chunkOptions(exchange.call.request),
      )
      const head = () => (exchange.projectId === null ? [] : [`{"_meta":${renderPlace()}}`])
      const sending = { request, reply, deadline, framing: LINES }
      return await sendStream(sending, withHead(chunks, head))
    },
  )
}

/** Begins a completion that is returned whole, as the JSON text of a CompletionCreateResponse. */
export async function startWholeCompletion(
  options: CompletionCreateOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  body: CompletionCreateRequest,
) {
  const asked = await prepare(options, request, reply, body, false)
  const { exchange, envelope, deadline, renderPlace } = asked
  const answer = completeWhole(exchange, options.inference.run, envelope)
  const whole = answer.then(
    (json) => `{"response":${json},${renderPlace().slice(1)}`,
    (error) => {
      throw renameErrorParam(error, toInputsParam)
    },
  )
  return { whole, deadline }
}

/** The fields of the chat lie below `inputs`. */
const toInputsParam = (param: string): string => `inputs.${param}`

/** JSON lines: readers of these know no comments, so nothing is sent while a model is silent. */
const LINES = {
  render: (json: string) => `${json}\n`,
  end: '',
  keepAlive: null,
  type: `${JSON_LINES}; charset=utf-8`,
}

/** Yields the texts before the first chunk once that has arrived: until then a failure has a status. */
async function* withHead(
  chunks: AsyncGenerator<readonly string[]>,
  head: () => readonly string[],
): AsyncGenerator<readonly string[]> {
  let before: readonly string[] | null = null
  for await (const texts of chunks) {
    yield before === null ? [...head(), ...texts] : texts
    before = []
  }
}

/** Everything before the request to the model: caller, project, chat. */
async function prepare(
  options: CompletionCreateOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  sent: CompletionCreateRequest,
  isStream: boolean,
) {
  const { project_id, inputs, track_llm_call, ...named } = sent
  const caller = requireAccess(request.principal, 'inference', project_id)
  const promptRef = inputs.prompt ? await pinRef(inputs.prompt, options.objects) : null
  const prompt = promptRef === null ? [] : await readPrompt(promptRef, request, options)
  const { choice } = options.inference
  const body = renderJson(toChatDraft(inputs, prompt, isStream))
  const draft: unknown = JSON.parse(body)
  const model = await choice.choose(inputs.model, { caller, projectId: project_id, body: draft })
  const chat = requireChat(draft, model, toInputsParam)

  const { deadline, client } = openResponse(request, reply)
  const isTracked = track_llm_call !== false
  const { conversation_id = null, conversation_name, source } = named
  const traceId = named.trace_id ?? newId()
  const exchange = {
    ...client,
    caller,
    call: { request: chat, body, requestId: request.id },
    model,
    projectId: isTracked ? project_id : null,
    recordAs: {
      opName: COMPLETION_OP_NAME,
      body,
      place: { traceId, parentId: named.parent_id ?? null, threadId: conversation_id },
      attributes: {
        ...(conversation_name ? { conversation_name } : {}),
        ...(source ? { source } : {}),
      },
      promptRef,
    },
  }
  const names = { requestId: request.id, model: model.answersAs ?? inputs.model ?? model.id }
  const envelope = resolveResponseEnvelope(chat, { ...names, nowMs: Date.now() })
  /** The recorded call, as JSON text; known once the request to the model has begun. */
  const renderPlace = () => {
    const weave_call_id = reply.getHeader('x-weft-call-id') ?? null
    return JSON.stringify({ weave_call_id, trace_id: isTracked ? traceId : null, conversation_id })
  }
  return { exchange, envelope, deadline, renderPlace }
}

/** Returns the messages of a published prompt. @throws ApiError validation_failed, scope_missing, object_not_found */
async function readPrompt(
  text: string,
  { principal }: FastifyRequest,
  { objects, tables }: CompletionCreateOptions,
): Promise<readonly unknown[]> {
  const reader = requireScope(principal, 'traces:read')
  const canRead = (projectId: string) => canUseProject(reader, projectId)
  const read = createRefReader({ objects, tables, canRead })
  const ref = parseReadableRef(text)
  const messages = ref && toPromptMessages(await read(ref))
  if (messages) return messages
  const message = 'inputs.prompt must be the ref of an object with messages'
  throw new ApiError('validation_failed', { param: 'inputs.prompt', message })
}

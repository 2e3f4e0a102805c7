/**
 * `POST /v1/responses`, an addition to the spec. A response is a chat in another format, or comes from an engine that
 * supports responses; models, limits and recording are the same. Each state is stored before it is sent.
 */
import type { FastifyRequest } from 'fastify'
import type { Principal } from '../../domain/access/permissions.ts'
import type { ResponseHead } from '../../domain/chat/responses/response-state.ts'
import { createResponseWriter } from '../../domain/chat/responses/responses-events.ts'
import { type IndexedItem, toMessages } from '../../domain/chat/responses/responses-input.ts'
import { listInputItems, toResponseId } from '../../domain/chat/responses/responses-record.ts'
import {
  findUnknownResponseFields,
  requirePassableFields,
  requireSupportedFields,
  toChatDraft,
  toResponseParam,
} from '../../domain/chat/responses/responses-request.ts'
import { readTools } from '../../domain/chat/responses/responses-tools.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { responseOrEvents } from '../../http/document/responses.ts'
import { newId } from '../../http/new-id.ts'
import { CacheableHeaders } from '../../http/project-header.ts'
import { onceClosed } from '../../http/stream/client-signal.ts'
import { renderNamedEvent, WHOLE_EVENTS } from '../../http/stream/sse.ts'
import type {
  CompletionExchange,
  CompletionRunOptions,
} from '../../inference/chat/completion-run.ts'
import { resolveResponseEnvelope } from '../../inference/chat/whole-completion.ts'
import type { ModelChoice } from '../../inference/models/model-choice.ts'
import type { ServedModel } from '../../inference/models/registry.ts'
import type { InputItem } from '../../schemas/chat/responses/responses-input.ts'
import { ResponseCreateRequest } from '../../schemas/chat/responses/responses-request.ts'
import type { ResponseStore } from '../../store/api/chat/recordings.ts'
import type { Stores } from '../../store/api/stores.ts'
import {
  logStreamFailure,
  openResponse,
  sendStream,
  sendWhole,
  toModelCaller,
} from './model-exchange.ts'
import {
  createPassedMaker,
  makesResponses,
  RESPONSES_KIND,
  renderEngineRequest,
} from './passed-responses.ts'
import { renameErrorParam, renameErrorParams, requireChat } from './rename-error-param.ts'
import { readContext, resolveReferences } from './response-context.ts'
import {
  createChatMaker,
  type ResponseMaker,
  type ResponseRun,
  renderWholeResponse,
  streamResponse,
} from './response-run.ts'
import type { RunningResponses } from './running-responses.ts'

interface ResponseRoutesOptions extends Pick<Stores, 'responses'>, Pick<Clock, 'nowUs'> {
  readonly choice: ModelChoice
  readonly run: CompletionRunOptions
  readonly running: RunningResponses
}

export async function responseRoutes(app: App, options: ResponseRoutesOptions): Promise<void> {
  const { choice, run, responses, running, nowUs } = options
  app.post(
    '/v1/responses',
    {
      config: { invalidBody: 'openai_400', body: 'text' },
      schema: {
        tags: ['inference'],
        operationId: 'createResponse',
        summary:
          'Create a response; with `stream` as typed server-sent events (addition to the spec).',
        body: ResponseCreateRequest,
        shown: { headers: CacheableHeaders, response: { 200: responseOrEvents() } },
      },
    },
    async (request, reply) => {
      const { body } = request
      const modelCaller = toModelCaller(request)
      const { caller, projectId } = modelCaller
      const model = await choice.choose(body.model, modelCaller)
      const isPassed = makesResponses(model)
      if (isPassed) requirePassableFields(body)
      else requireSupportedFields(body)
      const id = toResponseId(newId())
      const input = await resolveReferences(responses, listInputItems(body, id), caller)
      const context = await readContext(responses, body.previous_response_id, caller)

      const createdAtUs = nowUs()
      const { abort, deadline, client } = openResponse(request, reply)
      const head = toHead(body, model, { id, createdAtUs })
      const from = { ...modelCaller, ...client, model }
      const job: Job = { request, from, context, input, run, nowUs, head }
      const maker = isPassed ? openPassed(job) : openChat(job)
      const owner = { project_id: projectId, key_id: caller.keyId }
      const leave = running.add(id, { owner, abort, response: maker.response })
      onceClosed(reply.raw, leave)
      const row = { id, ...owner, created_at_us: createdAtUs, input }
      let isStatusSent = false
      const answer: ResponseRun = {
        maker,
        isStatusSent: () => isStatusSent,
        keep: body.store === false ? null : toKeeper(responses, body, row),
        noteFailure: (failure) => logStreamFailure(request, failure),
      }
      if (body.stream !== true) return await sendWhole(reply, renderWholeResponse(answer), deadline)
      const onStatusFirst = () => {
        isStatusSent = true
      }
      const format = { framing: WHOLE_EVENTS, renderError }
      const sending = { request, reply, deadline, ...format, onStatusFirst }
      return await sendStream(sending, streamResponse(answer))
    },
  )
}

/** A response to produce. */
interface Job extends Pick<ResponseRoutesOptions, 'run' | 'nowUs'> {
  readonly request: FastifyRequest<{ Body: ResponseCreateRequest }>
  readonly from: Pick<
    CompletionExchange,
    'caller' | 'projectId' | 'model' | 'signal' | 'setHeaders'
  >
  readonly head: ResponseHead
  /** Items of the previous responses. */
  readonly context: readonly IndexedItem[]
  readonly input: readonly InputItem[]
}

/** Produced from a chat. @throws ApiError, SchemaError for a request that is not a chat */
function openChat(job: Job): ResponseMaker {
  const { request, from, context, input, head, run, nowUs } = job
  const { backend } = from.model
  const tools = readTools(request.body, backend.dropsUnsupported === true)
  const passesUnknown = backend.ignoresUnknown === true
  const unknown = passesUnknown ? [] : findUnknownResponseFields(request.body)
  if (!backend.dropsUnsupported) refuseUnknown(unknown)
  const placed = input.map((item, index) => ({ item, place: `input[${index}]` }))
  const messages = toMessages([...context, ...placed], tools)
  const chat = requireChat(
    toChatDraft(request.body, messages, tools, passesUnknown),
    from.model,
    toResponseParam,
  )
  const writer = createResponseWriter(head, tools)
  const names = { requestId: request.id, model: head.model, nowMs: Date.now() }
  const maker = createChatMaker({
    exchange: {
      ...toExchange(job, () => maker.json()),
      droppedFields: [...unknown, ...tools.dropped],
      call: { request: chat, body: JSON.stringify(chat), requestId: request.id },
    },
    envelope: resolveResponseEnvelope(chat, names),
    run,
    writer,
    nowUs,
  })
  return {
    ...maker,
    async whole() {
      await maker.whole().catch((error) => {
        throw renameErrorParam(error, toResponseParam)
      })
    },
    events: () => renameErrorParams(maker.events(), toResponseParam),
  }
}

/** @throws ApiError unsupported_parameter for the first of the fields */
function refuseUnknown([param]: readonly string[]): void {
  if (param === undefined) return
  const message = 'The field is neither one of responses nor one of chat completions.'
  throw new ApiError('unsupported_parameter', { param, message })
}

/** Produced by the engine. */
function openPassed(job: Job): ResponseMaker {
  const { request, context, input, head, run } = job
  const { body } = request
  const bodyText = request.bodyText ?? ''
  const asked = renderEngineRequest({ body, bodyText, context, input })
  const { model, stream, user } = body
  const exchange = {
    ...toExchange(job, () => maker.json()),
    kind: RESPONSES_KIND,
    call: { request: { model, stream, user }, body: asked, requestId: request.id },
  }
  const maker = createPassedMaker(exchange, run, head)
  return maker
}

function toExchange({ from, request }: Job, output: () => string) {
  return {
    ...from,
    recordAs: { opName: 'responses', body: request.bodyText ?? '', output },
  }
}

function toHead(
  request: ResponseCreateRequest,
  model: ServedModel,
  { id, createdAtUs }: { id: string; createdAtUs: number },
): ResponseHead {
  return {
    id,
    created_at: Math.floor(createdAtUs / 1_000_000),
    model: model.answersAs ?? request.model ?? model.id,
    request,
    callsTools: model.capabilities.tools,
  }
}

interface Row {
  readonly id: string
  readonly project_id: string | null
  readonly key_id: Principal['keyId']
  readonly created_at_us: number
  readonly input: readonly InputItem[]
}

function toKeeper(
  responses: ResponseStore,
  { previous_response_id = null }: ResponseCreateRequest,
  { input, ...row }: Row,
) {
  return (response_json: string) =>
    responses.insertResponse({
      ...row,
      previous_response_id,
      response_json,
      input_json: JSON.stringify(input),
    })
}

/** Returns the event for a failure that is not one of the model: it has no response. */
function renderError({ code, message, param }: ApiError): string {
  const event = { type: 'error', sequence_number: 0, code, message, param }
  return renderNamedEvent('error', JSON.stringify(event))
}

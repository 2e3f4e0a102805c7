/**
 * Runs requests other than chats, such as embeddings, with the same limits, admission, fallbacks and recording.
 * Answers pass unchanged.
 */
import { findUnknownFields } from '../../domain/chat/chat-rules.ts'
import { ApiError } from '../../errors.ts'
import type { TextCompletionRequest } from '../../schemas/chat/services/text-completion.ts'
import type { Capability, Delta, FormPart, Service, ServiceCall } from '../backend.ts'
import { requireOffered } from '../models/offers.ts'
import type { ServedModel } from '../models/registry.ts'
import { nameFields, nameModel } from './backend-headers.ts'
import { renderChunks } from './chunks.ts'
import {
  type AnyRequest,
  type CompletionExchange,
  type CompletionRunOptions,
  openRun,
} from './completion-run.ts'
import type { FileRecord } from './record/completion-record.ts'
import { type CompletionRun, collectResponse, tryModels } from './try-models.ts'
import type { ResponseEnvelope } from './whole-completion.ts'

/** Any request of a service. It may have fields that the service's schema does not name. */
export interface ServiceRequest extends AnyRequest {
  readonly model?: string | null | undefined
  readonly [name: string]: unknown
}

export interface ServiceKind {
  readonly service: Service
  /** Fields named by its schema. */
  readonly shape: object
}

export interface ServiceExchange extends CompletionExchange {
  readonly kind: ServiceKind
  readonly call: CompletionExchange['call'] & {
    readonly request: ServiceRequest
    readonly form?: readonly FormPart[]
    readonly headers?: Readonly<Record<string, string>>
    readonly query?: string
  }
}

/** An answer that has begun and need not be JSON. */
interface ServedFile {
  readonly contentType: string
  readonly pieces: AsyncGenerator<Uint8Array>
  /** Releases an answer that will not be read further. Idempotent. */
  close(): void
}

/** A placeholder that is never sent: the upstream's answer has its own envelope. */
const PASSED_ON: ResponseEnvelope = { id: '', created: 0, model: '', role: '', choiceCount: 0 }

/** The capability that a model needs for each service. */
function capabilityOf(service: Service): Capability {
  if (service === 'detokenize') return 'tokenize'
  return service === 'message_tokens' ? 'messages' : service
}

/**
 * Returns the JSON text of the answer.
 *
 * @throws ApiError capability_missing, unsupported_parameter, rate_limit_exceeded; the error that ended the answer
 */
export function serveWhole(
  exchange: ServiceExchange,
  options: CompletionRunOptions,
): Promise<string> {
  return collectResponse(openService(exchange, options), PASSED_ON)
}

/** Yields the JSON texts of a stream's events. @throws what serveWhole throws */
export function serveStream(
  exchange: ServiceExchange,
  options: CompletionRunOptions,
): AsyncGenerator<readonly string[]> {
  const run = openService(exchange, options)
  const usage = { includeUsage: false, continuousUsage: false }
  return renderChunks(tryModels(run), PASSED_ON, usage)
}

/**
 * Returns an answer that need not be JSON, as soon as it begins.
 *
 * @throws what serveWhole throws
 */
export async function serveFile(
  exchange: ServiceExchange,
  options: CompletionRunOptions,
  record: FileRecord,
): Promise<ServedFile> {
  const deltas = tryModels(openService(exchange, options))
  const first = await deltas.next()
  if (first.done) throw new ApiError('internal_error')
  const contentType =
    first.value.type === 'bytes' ? first.value.contentType : 'application/json; charset=utf-8'
  const close = () => void deltas.return(undefined).catch(() => undefined)
  return { contentType, pieces: listPieces(first.value, deltas, record), close }
}

/** @throws the error that ended the answer, unless its bytes have told of it */
async function* listPieces(
  first: Delta,
  rest: AsyncGenerator<Delta>,
  record: FileRecord,
): AsyncGenerator<Uint8Array> {
  let tellsError = false
  try {
    for (let delta: Delta | undefined = first; delta; delta = (await rest.next()).value) {
      record.note(delta)
      if (delta.type === 'bytes') {
        tellsError = delta.tellsError
        yield* delta.pieces
      } else if (delta.type === 'relayed') yield Buffer.from(delta.texts[0]?.json ?? '')
    }
  } catch (error) {
    if (!tellsError) throw error
  }
}

function openService(exchange: ServiceExchange, options: CompletionRunOptions): CompletionRun {
  const { kind, model: asked, call } = exchange
  const { service, shape } = kind
  const { request } = call
  requireOffered(asked, capabilityOf(service), options.models)
  requireTaken(service, request)
  requireHonoured(service, request, asked)
  return openRun(exchange, options, {
    requireAnswerable(model) {
      requireOffered(model, capabilityOf(service))
      requireHonoured(service, request, model)
    },
    toCacheable: () => {
      const { body, headers = {}, query = '', form } = call
      return form === undefined ? { service, request, body, headers, query } : null
    },
    // A model with a guard offers no other service whose texts a guard could check.
    toChat: () => {
      throw new ApiError('internal_error')
    },
    start(model, served, callOptions) {
      const { backend } = model
      const answersAs = model.answersAs ?? request.model ?? model.id
      if (backend.serve === undefined) throw new ApiError('internal_error')
      // The service's schema has already validated the request.
      const serviceCall = { ...call, ...served, service, answersAs } as unknown as ServiceCall
      return backend.serve(serviceCall, callOptions)
    },
    nameBackend: (model, upstream) => ({
      ...nameModel(model, upstream),
      'x-weft-dropped-fields': nameFields(findUnhonoured(service, request, model)),
      'x-weft-ignored-fields': nameIgnored(request, model, shape),
    }),
  })
}

function findUnhonoured(
  service: Service,
  request: ServiceRequest,
  { backend }: ServedModel,
): readonly string[] {
  if (service !== 'completions') return []
  // The service's schema has already validated the request.
  return backend.findUnhonoured?.(request as unknown as TextCompletionRequest) ?? []
}

/** @throws ApiError unsupported_parameter */
function requireHonoured(service: Service, request: ServiceRequest, model: ServedModel): void {
  const [param] = findUnhonoured(service, request, model)
  if (param === undefined || model.backend.dropsUnsupported) return
  const message = `The engine of the model \`${model.id}\` does not support ${param}.`
  throw new ApiError('unsupported_parameter', { param, message })
}

function nameIgnored(request: ServiceRequest, { backend }: ServedModel, shape: object) {
  return nameFields(backend.ignoresUnknown ? findUnknownFields(request, shape) : [])
}

/**
 * Rejects `suffix` for completions and `stream` for images, which are supported for no model.
 *
 * @throws ApiError unsupported_parameter
 */
function requireTaken(service: Service, request: ServiceRequest): void {
  if (service === 'completions' && request.suffix) {
    const message = 'suffix is not supported: text cannot be inserted.'
    throw new ApiError('unsupported_parameter', { param: 'suffix', message })
  }
  if (service === 'images' && request.stream === true) {
    const message = 'stream is not supported for images, which are returned whole.'
    throw new ApiError('unsupported_parameter', { param: 'stream', message })
  }
}

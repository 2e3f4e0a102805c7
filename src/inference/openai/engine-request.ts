/** Builds the request for an upstream: the path after its base address, and the body. */
import { randomUUID } from 'node:crypto'
import type { CompletionCall, Service, ServiceCall, ServiceCallOf } from '../backend.ts'
import { renderLlamaTokens, renderSglangTokens } from './engine-tokens.ts'
import { requestUsage, type TargetModel } from './field-edits.ts'
import { renderForm } from './form-body.ts'
import { type Engine, findUnknownCompletionFields, type Profile } from './profiles.ts'
import { editMembers, findMember } from './request.ts'
import { renderUpstreamBody } from './upstream-body.ts'

/** A request, independent of the upstream that gets it. */
export interface EngineRequest extends Pick<CompletionCall, 'model' | 'requestId'> {
  readonly path: string
  readonly isStream: boolean
  /** Whether the path replaces the `/v1` of the address instead of following it. Default false. */
  readonly isAtRoot?: boolean
  /** Media type of the body. Default: JSON. */
  readonly contentType?: string
  /** Accepted media types. Default: JSON, or the events of a stream. */
  readonly accept?: string
  /** Renders the body for an upstream. */
  render(target: TargetModel): string | Uint8Array
}

export function toChatRequest(profile: Profile, call: CompletionCall): EngineRequest {
  const { request, body } = call
  return {
    ...call,
    path: '/chat/completions',
    isStream: request.stream === true,
    render: (target) => renderUpstreamBody(body, request, target, profile),
  }
}

/** The paths of requests other than chats. */
const PATHS: Readonly<Record<Service, string>> = {
  completions: '/completions',
  embeddings: '/embeddings',
  moderations: '/moderations',
  responses: '/responses',
  images: '/images/generations',
  image_edits: '/images/edits',
  image_variations: '/images/variations',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
  tokenize: '/tokenize',
  detokenize: '/detokenize',
}

/** Services whose answers need not be JSON, or whose requests are forms. */
const FILE_SERVICES: ReadonlySet<Service> = new Set([
  'image_edits',
  'image_variations',
  'speech',
  'transcriptions',
  'translations',
])

export function isFileService(service: Service): boolean {
  return FILE_SERVICES.has(service)
}

/** Asks with the client's text and the upstream's model name. The endpoints for tokens are not under `/v1`. */
export function toServiceRequest(engine: Engine, call: ServiceCall): EngineRequest {
  const { service, request } = call
  if (isFileService(service)) return askFile(call)
  const isStream = (service === 'completions' || service === 'responses') && request.stream === true
  const isAtRoot = service === 'tokenize' || service === 'detokenize'
  const ask = { ...call, path: PATHS[service], isStream, isAtRoot }
  if (isAtRoot && engine === 'llama-server')
    return { ...ask, render: () => renderLlamaTokens(call) }
  if (isAtRoot && engine === 'sglang') {
    return { ...ask, render: ({ model }) => renderSglangTokens(call, model) }
  }
  const usage = service === 'completions' && isStream ? listUsage(call) : []
  const remove = new Set<string>(
    service === 'completions' ? findUnknownCompletionFields(engine, call.request) : [],
  )
  const render = ({ model }: TargetModel) =>
    editMembers(call.body, { set: new Map([['model', JSON.stringify(model)], ...usage]), remove })
  return { ...ask, render }
}

/** The edits that request the usage of a stream. */
function listUsage({ request, body }: ServiceCallOf<'completions'>): [name: string, to: string][] {
  const { stream_options: options } = request
  if (options?.include_usage === true) return []
  const text = options ? findMember(body, 'stream_options') : undefined
  return [['stream_options', requestUsage(text)]]
}

/** Asks with a rebuilt form, so that exactly the checked parts are sent, or with JSON that is answered with audio. */
function askFile(call: ServiceCall): EngineRequest {
  const { service, form, body } = call
  const ask = { ...call, path: PATHS[service], isStream: false, accept: '*/*' }
  if (form === undefined) {
    const set = (model: string) => new Map([['model', JSON.stringify(model)]])
    return { ...ask, render: ({ model }) => editMembers(body, { set: set(model) }) }
  }
  const boundary = `weft-${randomUUID()}`
  const contentType = `multipart/form-data; boundary=${boundary}`
  return { ...ask, contentType, render: ({ model }) => renderForm(form, model, boundary) }
}

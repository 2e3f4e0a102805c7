/** What is asked of an upstream: the path behind its address, and the body for it. */
import { randomUUID } from 'node:crypto'
import type { CompletionCall, Service, ServiceCall } from '../backend.ts'
import { renderLlamaTokens, renderSglangTokens } from './engine-tokens.ts'
import type { TargetModel } from './field-edits.ts'
import { renderForm } from './form-body.ts'
import type { Engine, Profile } from './profiles.ts'
import { editMembers } from './request.ts'
import { renderUpstreamBody } from './upstream-body.ts'

/** What is asked, at whichever upstream. */
export interface Ask
  extends Pick<CompletionCall, 'model' | 'requestId' | 'onUpstream' | 'onTried'> {
  readonly path: string
  readonly isStream: boolean
  /** Whether the path stands beside `/v1` of the address. Default false. */
  readonly isAtRoot?: boolean
  /** Of the body. Default: JSON. */
  readonly contentType?: string
  /** What is asked for. Default: JSON, or events of a stream. */
  readonly accept?: string
  /** The body for an upstream. */
  render(target: TargetModel): string | Uint8Array
}

export function askChat(profile: Profile, call: CompletionCall): Ask {
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

/** Services whose answers may be no JSON, or whose requests come as forms. */
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

/** The text that the client sent, with the upstream's name of the model. Tokens are cut beside `/v1`, not in it. */
export function askService(engine: Engine, call: ServiceCall): Ask {
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
  const set = (name: string, value: unknown) => [name, JSON.stringify(value)] as const
  // Usage is asked for in streams too: the server counts it, and hides it where the client did not ask.
  const usage =
    service === 'completions' && isStream
      ? [set('stream_options', { ...request.stream_options, include_usage: true })]
      : []
  const render = ({ model }: TargetModel) =>
    editMembers(call.body, { set: new Map([set('model', model), ...usage]) })
  return { ...ask, render }
}

/** A form anew, so that the parts are those that were checked; or JSON that is answered with audio. */
function askFile(call: ServiceCall): Ask {
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

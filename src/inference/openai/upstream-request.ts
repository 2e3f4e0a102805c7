/** Builds the request for an upstream: its path, and the received body, edited where the engine needs another form. */
import { randomUUID } from 'node:crypto'
import { isContinuation } from '../../domain/chat/continuation.ts'
import { findMembers, type MemberPosition } from '../../domain/json/json-members.ts'
import { renderJson } from '../../domain/json/json-text.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { CompletionCall, FormPart, Service, ServiceCall, ServiceCallOf } from '../backend.ts'
import { renderLlamaTokens, renderSglangTokens } from './engine-tokens.ts'
import { type FieldContext, type FieldName, requestUsage, type TargetModel } from './field-edits.ts'
import {
  type Engine,
  type FieldRule,
  findUnknownCompletionFields,
  type Profile,
} from './profiles.ts'
import { editMembers, findMember, type MemberEdits } from './request.ts'

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
  /** Further headers, by lower-case name. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Query without its `?`. Default: none. */
  readonly query?: string
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
  messages: '/messages',
  message_tokens: '/messages/count_tokens',
  images: '/images/generations',
  image_edits: '/images/edits',
  image_variations: '/images/variations',
  speech: '/audio/speech',
  transcriptions: '/audio/transcriptions',
  translations: '/audio/translations',
  tokenize: '/tokenize',
  detokenize: '/detokenize',
}

/** Services that are streamed if the request says so. */
const STREAMED: ReadonlySet<Service> = new Set(['completions', 'responses', 'messages'])

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
  const isStream = STREAMED.has(service) && 'stream' in request && request.stream === true
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
  const others = [...usage, ...listReadable(call)]
  const render = ({ model }: TargetModel) =>
    editMembers(call.body, { set: new Map([['model', JSON.stringify(model)], ...others]), remove })
  return { ...ask, render }
}

/**
 * The edit that leaves out of a message the thinking that a provider package of this server has sealed, such as before a
 * fallback: its signature is not one of the engine's.
 */
function listReadable({ service, request }: ServiceCall): [name: string, to: string][] {
  if (service !== 'messages' && service !== 'message_tokens') return []
  const isSealed = (block: Readonly<Record<string, unknown>>) =>
    (block.type === 'thinking' && isContinuation(block.signature)) ||
    (block.type === 'redacted_thinking' && isContinuation(block.data))
  const { messages } = request
  const hasSealed = messages.some(
    ({ content }) => typeof content !== 'string' && content.some(isSealed),
  )
  if (!hasSealed) return []
  const readable = messages.flatMap((message) => {
    const { content } = message
    if (typeof content === 'string') return [message]
    const kept = content.filter((block) => !isSealed(block))
    return kept.length === 0 && content.length > 0 ? [] : [{ ...message, content: kept }]
  })
  return [['messages', renderJson(readable)]]
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

/**
 * Returns the text of a request for the upstream.
 *
 * @param text - the received text: a JSON object that has already been parsed successfully
 * @param request - the same, parsed; it uses nothing that the profile rejects
 * @param target - the model at the upstream
 * @throws ApiError unsupported_parameter, invalid_value for values that the engine cannot express
 *
 * Spec: §4.3 (every field).
 * Choice: the received text is edited, not printed anew, so that fields and digits that this server does
 * not know survive.
 */
export function renderUpstreamBody(
  text: string,
  request: ChatCompletionRequest,
  target: TargetModel,
  profile: Profile,
): string {
  /** Searched only when the first text is needed: most requests have no field to edit. */
  let places: readonly MemberPosition[] | undefined
  const textOf = (name: FieldName) => {
    if (!isSent(request, name)) return undefined
    places ??= findMembers(text)
    const place = places.findLast((member) => member.name === name)
    return place && text.slice(place.valueStart, place.valueEnd)
  }
  const changes = listChanges({ ...target, request, textOf }, profile)
  return changes.length === 0 ? text : editMembers(text, toMemberEdits(changes), places)
}

/** A member to remove, set to a JSON text, or rename. */
interface Change {
  readonly kind: 'remove' | 'set' | 'rename'
  readonly name: string
  /** The text, or the new name. */
  readonly to: string
}

function listChanges(context: FieldContext, profile: Profile): Change[] {
  const { request } = context
  const changes: Change[] = []
  const remove = (name: string) => {
    if (Object.hasOwn(request, name)) changes.push({ kind: 'remove', name, to: '' })
  }
  for (const [name, rule] of listActiveRules(profile)) {
    if (typeof rule === 'string') {
      remove(name)
    } else if ('edit' in rule) {
      for (const [key, to] of Object.entries(rule.edit(context))) {
        if (to === null) remove(key)
        else if (to !== undefined) changes.push({ kind: 'set', name: key, to })
      }
    } else if (isSent(request, name)) {
      changes.push({ kind: 'rename', name, to: rule.rename })
    } else {
      remove(name)
    }
  }
  return changes
}

/** Null is the same as absent. */
function isSent(request: ChatCompletionRequest, name: FieldName): boolean {
  return request[name] !== undefined && request[name] !== null
}

function toMemberEdits(changes: readonly Change[]): MemberEdits {
  const set = new Map<string, string>()
  const rename = new Map<string, string>()
  const remove = new Set<string>()
  for (const { kind, name, to } of changes) {
    if (kind === 'remove') remove.add(name)
    else if (kind === 'set') set.set(name, to)
    else rename.set(name, to)
  }
  return { set, rename, remove }
}

type ActiveRule = readonly [name: FieldName, rule: Exclude<FieldRule, 'pass'>]

/** The rules of each profile other than `pass`, cached so that a request visits only these. */
const ACTIVE_RULES = new WeakMap<Profile, readonly ActiveRule[]>()

function listActiveRules(profile: Profile): readonly ActiveRule[] {
  const known = ACTIVE_RULES.get(profile)
  if (known !== undefined) return known
  const names = Object.keys(profile) as FieldName[]
  const rules = names.flatMap((name): ActiveRule[] => {
    const rule = profile[name]
    return rule === 'pass' ? [] : [[name, rule]]
  })
  ACTIVE_RULES.set(profile, rules)
  return rules
}

const LINE = '\r\n'

/**
 * Returns the bytes of a form, with the upstream's name for the model.
 *
 * @param boundary - must not occur in any part
 */
function renderForm(parts: readonly FormPart[], model: string, boundary: string): Uint8Array {
  const others = parts.filter(({ name }) => name !== 'model')
  const pieces = [{ name: 'model', value: model }, ...others].flatMap((part) => [
    Buffer.from(`--${boundary}${LINE}${renderHead(part)}${LINE}${LINE}`),
    'bytes' in part ? part.bytes : Buffer.from(part.value),
    Buffer.from(LINE),
  ])
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--${LINE}`)])
}

function renderHead(part: FormPart): string {
  const head = `content-disposition: form-data; name="${quote(part.name)}"`
  if (!('bytes' in part)) return head
  const file = `${head}; filename="${quote(part.filename)}"`
  return `${file}${LINE}content-type: ${part.contentType}`
}

/** Escapes names as browsers do. */
function quote(name: string): string {
  return name.toWellFormed().replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}

/** What is asked of an upstream: the path behind its address, and the body for it. */
import type { CompletionCall, Service, ServiceCall } from '../backend.ts'
import type { TargetModel } from './field-edits.ts'
import { renderLlamaTokens } from './llama-tokens.ts'
import type { Engine, Profile } from './profiles.ts'
import { editMembers } from './request.ts'
import { renderUpstreamBody } from './upstream-body.ts'

/** What is asked, at whichever upstream. */
export interface Ask extends Pick<CompletionCall, 'model' | 'requestId' | 'onUpstream'> {
  readonly path: string
  readonly isStream: boolean
  /** Whether the path stands beside `/v1` of the address. Default false. */
  readonly isAtRoot?: boolean
  /** The body for an upstream. */
  render(target: TargetModel): string
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

/** The paths of what is no chat. */
const PATHS: Readonly<Record<Service, string>> = {
  completions: '/completions',
  embeddings: '/embeddings',
  moderations: '/moderations',
  images: '/images/generations',
  tokenize: '/tokenize',
  detokenize: '/detokenize',
}

/** The text that the client sent, with the upstream's name of the model. Tokens are cut beside `/v1`, not in it. */
export function askService(engine: Engine, call: ServiceCall): Ask {
  const { service, request } = call
  const isStream = service === 'completions' && request.stream === true
  const isAtRoot = service === 'tokenize' || service === 'detokenize'
  const ask = { ...call, path: PATHS[service], isStream, isAtRoot }
  if (isAtRoot && engine === 'llama-server')
    return { ...ask, render: () => renderLlamaTokens(call) }
  const set = (name: string, value: unknown) => [name, JSON.stringify(value)] as const
  // Usage is asked for in streams too: the server counts it, and hides it where the client did not ask.
  const usage = isStream
    ? [set('stream_options', { ...request.stream_options, include_usage: true })]
    : []
  const render = ({ model }: TargetModel) =>
    editMembers(call.body, { set: new Map([set('model', model), ...usage]) })
  return { ...ask, render }
}

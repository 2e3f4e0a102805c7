/** Reads what entries of the models file only name: keys in environment variables, and files of certificates. */
import { dirname, resolve } from 'node:path'
import type { GuardSettings } from '../chat/guard/guard-callback.ts'
import type { Upstream } from '../openai/backend.ts'
import type { RetryPolicy } from '../openai/upstream/targets.ts'
import type { ProxySettings } from '../openai/upstream/upstream-pool.ts'
import { readCaFile } from './ca-file.ts'
import type { RetriesEntry, UpstreamEntry } from './entry-fields.ts'
import type { ModelEntry } from './model-entry.ts'
import { ModelsFileError } from './models-file.ts'

export interface SecretsOptions {
  /** The models file. */
  readonly path: string
  /** Returns the value of an environment variable, or null if it is not set. */
  readonly readSecret: (name: string) => string | null
  /** Proxies for requests to upstreams. Default: none. */
  readonly proxies?: ProxySettings | null
}

/** Where models of the backend `anthropic` are if their entries name no address. */
const ANTHROPIC_ADDRESS = 'https://api.anthropic.com'

/** Printable ASCII only: a line break in a key, common at the end of files, would start a new header. */
const HEADER_TEXT = /^[ -~]+$/
/** Any other name may be a key that was put in the place of the name, which must not reach a log. */
const USUAL_NAME = /^[A-Z][A-Z0-9_]*$/

/** Returns the addresses of a model with their keys and certificates; an empty list for the embedded model. */
export function readUpstreams(
  entry: ModelEntry,
  place: string,
  options: SecretsOptions,
): Upstream[] {
  if (entry.backend === 'tiny' || entry.backend === 'ai-sdk') return []
  const { base_url = entry.backend === 'anthropic' ? ANTHROPIC_ADDRESS : undefined } = entry
  const { upstreams = base_url === undefined ? [] : [{ base_url }] } = entry
  return upstreams.map((upstream: UpstreamEntry, index) => {
    const fieldPath = (field: 'api_key_env' | 'ca_file') =>
      `${upstream[field] === undefined ? place : `${place}.upstreams[${index}]`}.${field}`
    const variable = upstream.api_key_env ?? entry.api_key_env
    const apiKey =
      variable === undefined ? null : readKey(variable, fieldPath('api_key_env'), options)
    const caFile = upstream.ca_file ?? entry.ca_file
    const ca = readCa(caFile, fieldPath('ca_file'), options)
    const { base_url: baseUrl, upstream_model: model = null, weight = 1 } = upstream
    return { baseUrl, apiKey, model, weight, ca, proxies: options.proxies ?? null }
  })
}

export function toRetryPolicy({ max, within_ms, on }: RetriesEntry): RetryPolicy {
  return { retriesMax: max, withinMs: within_ms, codes: on }
}

export function readGuard(
  { guard }: ModelEntry,
  place: string,
  options: SecretsOptions,
): GuardSettings | undefined {
  if (guard === undefined) return undefined
  const { url, api_key_env: variable, timeout_ms: timeoutMs, on_failure, phases } = guard
  const apiKey = variable === undefined ? null : readKey(variable, `${place}.api_key_env`, options)
  return { url, apiKey, timeoutMs, isOpen: on_failure === 'open', phases }
}

/** @throws ModelsFileError for a variable that is not set or holds no key */
export function readKey(
  variable: string,
  place: string,
  { path, readSecret }: SecretsOptions,
): string {
  const key = readSecret(variable)
  if (key !== null && HEADER_TEXT.test(key)) return key
  const field = /\.(\w+)$/.exec(place)?.[1]
  const fault =
    key === null ? `is not set (set it, or leave ${field} out)` : 'holds what no header can carry'
  const told = USUAL_NAME.test(variable) ? variable : 'a variable'
  throw new ModelsFileError(`${path}: ${place} names ${told}, which ${fault}`)
}

/** @throws ModelsFileError for a file that is missing or no certificate */
export function readCa(
  caFile: string | undefined,
  place: string,
  { path }: SecretsOptions,
): string | null {
  if (caFile === undefined) return null
  const file = resolve(dirname(path), caFile)
  try {
    return readCaFile(file)
  } catch (error) {
    throw new ModelsFileError(`${path}: ${place} names ${file}, which ${(error as Error).message}`)
  }
}

/**
 * The guard of a model: an HTTP service of the operator that is asked before and after each completion. It may refuse,
 * redact or annotate it.
 */
import { isObject } from '../../../domain/json/is-object.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../../../domain/json/json-limits.ts'
import { parseLossless } from '../../../domain/json/json-text.ts'
import { objectOrEmpty } from '../../../domain/json/json-values.ts'
import { ApiError } from '../../../errors.ts'
import type { Capability } from '../../backend.ts'

/** Limits of a verdict: bytes, and characters of its annotations and of its message. */
const VERDICT_BYTES_MAX = 8 * 1024 * 1024
const ANNOTATIONS_CHARS_MAX = 16 * 1024
const MESSAGE_CHARS_MAX = 1_000

/** What models with a guard serve: chats, also as responses and messages, and what no model says anything in. */
export const GUARDED: readonly Capability[] = ['chat', 'tokenize']

export type GuardPhase = 'request' | 'response'

export interface GuardSettings {
  readonly url: string
  /** Sent as a bearer token; null: none. */
  readonly apiKey: string | null
  readonly timeoutMs: number
  /** Whether completions go on where the guard gives no valid verdict. */
  readonly isOpen: boolean
  readonly phases: readonly GuardPhase[]
}

export interface Verdict {
  readonly action: 'allow' | 'refuse' | 'redact'
  /** Why it refuses, for the client; null: the default. */
  readonly message: string | null
  /** Replaces the messages of the request, or the choices of the response; only to redact. */
  readonly replacement: readonly unknown[]
  readonly annotations: Readonly<Record<string, unknown>>
}

/**
 * Requests a verdict of the guard.
 *
 * @param question - a JSON object without the phase
 * @returns null for a failure of a guard that is open
 * @throws ApiError guard_unavailable for a failure of one that is not; the reason of the signal
 *
 * Spec: §8 (a guard is an addition). Choice: redirects are failures, since the question holds what users wrote.
 */
export async function requestVerdict(
  settings: GuardSettings,
  phase: GuardPhase,
  question: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Verdict | null> {
  const { url, apiKey, timeoutMs, isOpen } = settings
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      headers: {
        'content-type': 'application/json',
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ phase, ...question }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`the guard responded with ${response.status}`)
    }
    return readVerdict(await readText(response), phase)
  } catch (cause) {
    signal.throwIfAborted()
    if (isOpen) return null
    throw new ApiError('guard_unavailable', { cause })
  }
}

async function readText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes > VERDICT_BYTES_MAX) throw new Error('the verdict of the guard is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** @throws Error for anything but a verdict */
function readVerdict(json: string, phase: GuardPhase): Verdict {
  const value = exceedsDepth(json, JSON_DEPTH_MAX) ? null : objectOrEmpty(parseLossless(json))
  const { action, message = null, annotations = {} } = value ?? {}
  if (action !== 'allow' && action !== 'refuse' && action !== 'redact') {
    throw new Error('the verdict of the guard has no action allow, refuse or redact')
  }
  if (message !== null && typeof message !== 'string') {
    throw new Error('the message of the guard is no text')
  }
  if (!isObject(annotations) || JSON.stringify(annotations).length > ANNOTATIONS_CHARS_MAX) {
    throw new Error(
      `the annotations of the guard are no object of ${ANNOTATIONS_CHARS_MAX} characters`,
    )
  }
  const name = phase === 'request' ? 'messages' : 'choices'
  const replacement = action === 'redact' ? value?.[name] : []
  if (!Array.isArray(replacement)) throw new Error(`the guard redacts without a list of ${name}`)
  const told = message?.slice(0, MESSAGE_CHARS_MAX) ?? null
  return { action, message: told, replacement, annotations }
}

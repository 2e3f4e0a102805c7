/**
 * What a provider needs again to go on, such as the signature of reasoning, as texts that clients keep without knowing
 * them. Only known members are taken, since clients send them back.
 */
import { isObject } from '../json/is-object.ts'
import { objectOrEmpty, parseObject, textOrEmpty } from '../json/json-values.ts'

/** Metadata by provider. */
export type Metadata = Record<string, Record<string, string>>

const MEMBERS = [
  'signature',
  'redactedData',
  'thoughtSignature',
  'itemId',
  'reasoningEncryptedContent',
] as const

/** Begins the texts of this server, so that those of other makers are not taken for them. */
const MARK = 'ais1.'
/** Limits: providers in a text, and characters of their names. */
const PROVIDERS_MAX = 4
const PROVIDER = /^[A-Za-z][\w-]{0,63}$/

/** Returns what must be kept of metadata; null for nothing. */
export function pickMetadata(metadata: unknown): Metadata | null {
  const picked: Metadata = {}
  for (const [provider, given] of Object.entries(objectOrEmpty(metadata)).slice(0, PROVIDERS_MAX)) {
    const values = objectOrEmpty(given)
    const members = MEMBERS.filter((name) => typeof values[name] === 'string')
    if (members.length === 0 || !PROVIDER.test(provider)) continue
    picked[provider] = Object.fromEntries(members.map((name) => [name, textOrEmpty(values[name])]))
  }
  return Object.keys(picked).length === 0 ? null : picked
}

/** Adds later metadata of the same block. */
export function mergeMetadata(earlier: Metadata | null, later: unknown): Metadata | null {
  const picked = pickMetadata(later)
  if (earlier === null || picked === null) return picked ?? earlier
  const merged: Metadata = { ...earlier }
  for (const [provider, members] of Object.entries(picked)) {
    merged[provider] = { ...merged[provider], ...members }
  }
  return merged
}

/** @param callId - of the tool call that it belongs to; null: to reasoning */
export function renderContinuation(metadata: Metadata, callId: string | null = null): string {
  const kept = callId === null ? { m: metadata } : { m: metadata, c: callId }
  return MARK + Buffer.from(JSON.stringify(kept)).toString('base64url')
}

/** Whether a signature or sealed reasoning is one that `renderContinuation` wrote, which no provider can read. */
export function isContinuation(text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(MARK)
}

/** Reads a text that `renderContinuation` wrote; null for any other text. */
export function parseContinuation(
  text: unknown,
): { readonly metadata: Metadata; readonly callId: string | null } | null {
  if (!isContinuation(text)) return null
  const kept = parseObject(Buffer.from(text.slice(MARK.length), 'base64url').toString())
  const metadata = pickMetadata(kept?.m)
  if (metadata === null) return null
  return { metadata, callId: typeof kept?.c === 'string' ? kept.c : null }
}

/** A signature of a call in the form that Google's own chats have, in `extra_content` of the call. */
export function toExtraContent(metadata: Metadata | null): Record<string, unknown> {
  const signature = Object.values(metadata ?? {}).find((one) => one.thoughtSignature)
  if (signature === undefined) return {}
  return { extra_content: { google: { thought_signature: signature.thoughtSignature } } }
}

/** @param key - of the package's options */
export function readExtraContent(extra: unknown, key: string): Metadata | null {
  const { google } = objectOrEmpty(extra)
  const signature = isObject(google) ? google.thought_signature : null
  return typeof signature === 'string' ? { [key]: { thoughtSignature: signature } } : null
}

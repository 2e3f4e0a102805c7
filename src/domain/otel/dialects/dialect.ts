/** The shape of a dialect's table: where its spans have the fields of a call. Pure. */

/**
 * What a convention has at a place. `json`: JSON as a text, or a value that is none. `text`: texts, which stay what
 * they are even if they read like JSON. `flattened`: messages with a key for each field, in which a content that is a
 * list of parts is JSON as a text. `items`: a list of which each item is JSON as a text. `python`: a printed dictionary
 * of Python as a text.
 */
export type Form = 'json' | 'text' | 'flattened' | 'items' | 'python'

export interface AttributePath {
  readonly path: string
  readonly form: Form
  /** Where the media type of the value is told: one of JSON makes it JSON. */
  readonly mimeType?: string
  /** The path counts only in spans in which another one has one of these texts; without any, a value at all. */
  readonly when?: readonly [path: string, ...texts: readonly string[]]
}

/** A path alone is that of JSON. */
type AttributePaths = readonly (string | AttributePath)[]

/** What is looked for in a span. */
export interface Dialect {
  readonly name: string
  /** Prefixes of the scope's name; without them, spans of any scope are read. */
  readonly scopes?: readonly string[]
  /** Attributes that are JSON as a text, in which paths go on; those with a media type only if it is JSON. */
  readonly holders?: AttributePaths
  /** The kind of step in the dialect's own words. */
  readonly kind?: readonly string[]
  /** A better name of the operation than the span's. */
  readonly op?: readonly string[]
  /** The model that was asked for. */
  readonly requestedModel?: AttributePaths
  /** The model that answered, or whichever the dialect names. */
  readonly model?: readonly string[]
  /** The model that a gateway asked in place of the one it was asked for; its provider may stand before it. */
  readonly routedModel?: AttributePaths
  readonly provider?: readonly string[]
  /** Messages, prompts or texts that went in. */
  readonly messages?: AttributePaths
  readonly system?: AttributePaths
  readonly tools?: AttributePaths
  /** What else went in: arguments of a tool, a query, any value. */
  readonly input?: AttributePaths
  /** Messages or texts of a model that came out. */
  readonly answers?: AttributePaths
  /** Tool calls of an answer whose text is in another attribute. */
  readonly toolCalls?: AttributePaths
  /** Thoughts of an answer whose text is in another attribute. */
  readonly thoughts?: AttributePaths
  /** Completions in which each call is one of its own, without an id, where the answer has neither text nor calls. */
  readonly functionCalls?: AttributePaths
  /** Texts that were embedded, with their vectors once there are any. */
  readonly embeddings?: AttributePaths
  /** What else came out. */
  readonly output?: AttributePaths
  /** Events that have what came out, with the attribute of it; all attributes where that is missing. */
  readonly outputEvents?: readonly (readonly [event: string, attribute: string])[]
  /** Events whose attributes are read as those of the span, which come first, but for some; the last event of a name counts. */
  readonly attributeEvents?: readonly (readonly [event: string, ...without: readonly string[]])[]
  readonly finish?: AttributePaths
  readonly inputTokens?: AttributePaths
  readonly outputTokens?: readonly string[]
  readonly totalTokens?: readonly string[]
  readonly cacheRead?: readonly string[]
  readonly cacheWrite?: readonly string[]
  /** The part of cacheWrite that is cached for an hour. */
  readonly cacheWriteHour?: readonly string[]
  readonly reasoning?: readonly string[]
  readonly inputAudio?: readonly string[]
  readonly outputAudio?: readonly string[]
  /** Whether the input leaves out what a cache had or took. */
  readonly countsCacheBeside?: boolean
  /** Whether thoughts are in the total alone, beside the input and the output. */
  readonly countsThoughtsBeside?: boolean
  /** Whether an exception of a span says that it failed, whatever its status. */
  readonly failsByException?: boolean
  /** What is there only in spans that repeat the usage of another one. */
  readonly repeated?: AttributePaths
  /** Reports of usage as objects, in any naming; they count where the span has no attribute for a count. */
  readonly usage?: AttributePaths
  /** The same as a provider wrote them. */
  readonly providerUsage?: AttributePaths
  /** What the request cost, in US dollars: a number or an object of its parts. */
  readonly cost?: readonly string[]
  /** The tier of service that answered. */
  readonly serviceTier?: readonly string[]
  readonly thread?: readonly string[]
  readonly turn?: readonly string[]
  readonly user?: readonly string[]
  readonly displayName?: readonly string[]
  /** Settings of the request, below these paths or as one object. */
  readonly parameters?: AttributePaths
}

export const text = (path: string): AttributePath => ({ path, form: 'text' })
export const flattened = (path: string): AttributePath => ({ path, form: 'flattened' })
export const items = (path: string): AttributePath => ({ path, form: 'items' })
export const python = (path: string): AttributePath => ({ path, form: 'python' })
/** OpenInference's own instrumentations leave out the type of a plain text. */
export const typed = (path: string, mimeType: string): AttributePath => ({
  path,
  form: 'text',
  mimeType,
})

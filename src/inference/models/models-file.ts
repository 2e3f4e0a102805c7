/**
 * Reads the file that lists the served models. A fault in it throws one ModelsFileError whose single line
 * gives the position. Upstream keys are never in the file, only the names of their environment variables.
 */
import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { CAPABILITIES } from '../backend.ts'
import { ENGINES } from '../openai/profiles.ts'
import { findCapabilityFault } from './capability-faults.ts'

/** Limits for the file. */
const MODELS_MAX = 1_000
const ALIASES_MAX = 100
const NAME_CHARS_MAX = 512
const UPSTREAMS_MAX = 64
const FALLBACKS_MAX = 8
const CONCURRENT_MAX = 100_000
const TIMEOUT_MS_MAX = 3_600_000
const PATH_CHARS_MAX = 4_096

/** A models file that cannot be used; the message is one line. */
export class ModelsFileError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ModelsFileError'
  }
}

const modelName = () =>
  z
    .string('must be a string')
    .regex(/^[^\s\p{C}](?:[^\p{C}]*[^\s\p{C}])?$/u, 'must be visible text without spaces around it')
    .regex(/^(?!\/).*(?<!\/)$/, 'must not begin or end with a slash')
    .max(NAME_CHARS_MAX, `must have at most ${NAME_CHARS_MAX} characters`)

const timeout = (fallback: number) =>
  z
    .int('must be a whole number of milliseconds')
    .min(1, 'must be 1 or more')
    .max(TIMEOUT_MS_MAX, `must be at most ${TIMEOUT_MS_MAX}`)
    .default(fallback)

const Timeouts = z.strictObject({
  connect: timeout(5_000).describe('Until the connection is established. Default 5000.'),
  first_byte: timeout(120_000).describe(
    'From the request to the first byte of a stream; answers that are not streamed are bounded by total alone. Default 120000.',
  ),
  idle: timeout(60_000).describe('Between two chunks of an answer. Default 60000.'),
  total: timeout(600_000).describe('For the whole answer. Default 600000.'),
})

const COMMON_FIELDS = {
  id: modelName().describe('Name that clients send as `model`; may contain slashes.'),
  aliases: z
    .array(modelName())
    .max(ALIASES_MAX, `must have at most ${ALIASES_MAX} entries`)
    .default([])
    .describe('Other names of the model.'),
  owned_by: z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(256, 'must have at most 256 characters')
    .default('weft')
    .describe('Owner of the model, shown in the listing as owned_by. Default weft.'),
  tools: z
    .boolean('must be true or false')
    .default(false)
    .describe('Whether it supports tool calls.'),
  capabilities: z
    .array(z.enum(CAPABILITIES, `must be one of ${CAPABILITIES.join(', ')}`), 'must be a list')
    .min(1, 'must not be empty')
    .max(CAPABILITIES.length, 'must name each one once')
    .optional()
    .describe('Endpoints that it serves. Default: those that are usual for the engine.'),
  priority_scheduling: z
    .boolean('must be true or false')
    .default(false)
    .describe('Whether `priority` may be other than 0; waiting requests are then ordered by it.'),
  max_concurrent: z
    .int('must be a whole number')
    .min(1, 'must be 1 or more')
    .max(CONCURRENT_MAX, `must be at most ${CONCURRENT_MAX}`)
    .optional()
    .describe('Completions that may run at once; others wait. Default: no limit.'),
  fallbacks: z
    .array(modelName(), 'must be a list')
    .max(FALLBACKS_MAX, `must have at most ${FALLBACKS_MAX} entries`)
    .default([])
    .describe(
      'Models that are tried, in this order, when this one fails before its answer begins.',
    ),
  default: z
    .boolean('must be true or false')
    .default(false)
    .describe(
      'Whether requests without a model use this one; otherwise they use the first of the file.',
    ),
} as const

const TinyEntry = z.strictObject({
  ...COMMON_FIELDS,
  tools: z
    .boolean('must be true or false')
    .default(true)
    .describe('Whether it supports tool calls. Default true.'),
  backend: z.literal('tiny').describe('The model embedded in this server.'),
})

const baseUrl = () =>
  z
    .string('must be a string')
    .refine(isBaseUrl, 'must be an http or https address without credentials or fragment')
    .regex(/^(?!.*\/chat\/completions\/?(?:\?|$))/, 'must end before /chat/completions')
const keyVariable = () =>
  z
    .string('must be a string')
    .regex(/^[A-Za-z_]\w{0,127}$/, 'must be the name of a variable with the key, not the key')
    .regex(/^(?!WEFT_)/, "must name a variable that is not Weft's own")
    .optional()

const caFile = () =>
  z
    .string('must be a string')
    .min(1, 'must not be empty')
    .max(PATH_CHARS_MAX, `must have at most ${PATH_CHARS_MAX} characters`)
    .optional()

const Upstream = z.strictObject({
  base_url: baseUrl().describe('Like base_url of the model.'),
  upstream_model: modelName().optional().describe('Default: that of the model.'),
  api_key_env: keyVariable().describe('Default: that of the model.'),
  ca_file: caFile().describe('Default: that of the model.'),
  weight: z
    .number('must be a number')
    .positive('must be above 0')
    .max(1_000, 'must be at most 1000')
    .default(1)
    .describe('Its share of the load, relative to the other upstreams. Default 1.'),
})

/** One of several upstreams of a model; the weight is 1 if absent. */
export type UpstreamEntry = Omit<z.output<typeof Upstream>, 'weight'> & { weight?: number }

const OpenAiEntry = z.strictObject({
  ...COMMON_FIELDS,
  backend: z.literal('openai').describe('An OpenAI-compatible server.'),
  engine: z
    .enum(ENGINES, `must be one of ${ENGINES.join(', ')}`)
    .default('generic')
    .describe('Kind of the server, which decides how fields are sent to it. Default generic.'),
  unsupported: z
    .enum(['reject', 'drop'], 'must be reject or drop')
    .default('reject')
    .describe('What happens to fields that the engine does not support. Default reject.'),
  base_url: baseUrl()
    .optional()
    .describe('Address without /chat/completions, such as http://127.0.0.1:8000/v1.'),
  upstreams: z
    .array(Upstream, 'must be a list')
    .min(1, 'must not be empty')
    .max(UPSTREAMS_MAX, `must have at most ${UPSTREAMS_MAX} entries`)
    .optional()
    .describe('Several servers of the same model, instead of base_url.'),
  upstream_model: modelName()
    .optional()
    .describe('Name of the model at the upstream. Default: the id.'),
  api_key_env: keyVariable().describe(
    'Environment variable that holds the key of the upstream. Default: no key is sent.',
  ),
  ca_file: caFile().describe(
    'File of PEM certificates that replace the default certificate authorities for the upstream; relative to the folder of the models file.',
  ),
  timeout_ms: Timeouts.prefault({}).describe('Timeouts, in milliseconds.'),
})

/** One entry of the file, defaults filled in. */
export const ModelEntry = z.discriminatedUnion('backend', [TinyEntry, OpenAiEntry], {
  error: 'must be tiny or openai',
})
export type ModelEntry = z.output<typeof ModelEntry>

/** The whole file. Spec: §4.7 (the available models are not shown). Choice: a JSON file lists them. */
const ModelsFile = z.strictObject({
  models: z
    .array(ModelEntry, 'must be a list')
    .min(1, 'must not be empty')
    .max(MODELS_MAX, `must have at most ${MODELS_MAX} entries`)
    .describe('The served models, in the order of the listing.'),
})

/** The entries of a file and its modification time in seconds since the epoch. */
interface ModelsFileContent {
  readonly entries: readonly ModelEntry[]
  readonly changed: number
}

/**
 * Reads the file; returns null if it is missing and not required.
 *
 * @param isRequired - whether a missing file is an error
 * @throws ModelsFileError
 */
export function readModelsFile(path: string, isRequired: boolean): ModelsFileContent | null {
  let text: string
  let changed: number
  try {
    text = readFileSync(path, 'utf8')
    changed = Math.floor(statSync(path).mtimeMs / 1000)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !isRequired) return null
    throw new ModelsFileError(`cannot read the models file ${path}: ${code} (set WEFT_MODELS_FILE)`)
  }
  return { entries: parseModelsFile(text, path), changed }
}

/**
 * Parses the entries in the text of a file.
 *
 * @param path - for error messages
 * @throws ModelsFileError for text that is not JSON, breaks a rule, or uses a name twice
 */
export function parseModelsFile(text: string, path: string): readonly ModelEntry[] {
  const result = ModelsFile.safeParse(parseJson(text, path))
  const issue = result.error?.issues[0]
  if (issue) throw new ModelsFileError(`${path}: ${renderIssue(issue)}`)
  const entries = result.data?.models ?? []
  const places = requireDistinctNames(entries, path)
  for (const [index, entry] of entries.entries()) {
    const fault = findEntryFault(entry, places)
    if (fault !== null) throw new ModelsFileError(`${path}: models[${index}].${fault}`)
  }
  return entries
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // What follows a comma is a piece of the file, which may hold what should not be logged.
    const [reason] = (error as Error).message.split(', ')
    throw new ModelsFileError(`${path}: is not valid JSON: ${reason}`)
  }
}

function renderIssue(issue: z.core.$ZodIssue): string {
  const keys = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const place = z.core.toDotPath([...issue.path, ...keys])
  if (place === '') return 'the file must be an object with the list models'
  if (keys[0] === 'api_key') return `${place} is not a field; api_key_env names a variable with it`
  if (keys.length > 0) return `${place} is not a field`
  return `${place} ${issue.message.replace('Invalid input: ', 'is wrong: ')}`
}

/** Returns a message for the first rule between fields that an entry breaks, starting with the field; or null. */
function findEntryFault(entry: ModelEntry, names: ReadonlyMap<string, string>): string | null {
  const own = [entry.id, ...entry.aliases]
  for (const [index, name] of entry.fallbacks.entries()) {
    if (!names.has(name)) return `fallbacks[${index}] is not a model of the file`
    if (own.includes(name)) return `fallbacks[${index}] is the model itself`
  }
  const fault = findCapabilityFault(entry)
  if (entry.backend === 'tiny' || fault !== null) return fault
  if (entry.upstreams === undefined) {
    return entry.base_url === undefined ? 'base_url is required, or upstreams' : null
  }
  return entry.base_url === undefined ? null : 'base_url stands beside upstreams, which replace it'
}

/** Returns each name with its position in the file. */
function requireDistinctNames(
  entries: readonly ModelEntry[],
  path: string,
): ReadonlyMap<string, string> {
  const places = new Map<string, string>()
  let defaultPlace: string | null = null
  for (const [index, entry] of entries.entries()) {
    const place = `models[${index}]`
    if (entry.default && defaultPlace !== null) {
      throw new ModelsFileError(`${path}: ${place}.default is also set in ${defaultPlace}`)
    }
    if (entry.default) defaultPlace = `${place}.default`
    const names = [
      [`${place}.id`, entry.id] as const,
      ...entry.aliases.map((alias, at) => [`${place}.aliases[${at}]`, alias] as const),
    ]
    for (const [namePlace, name] of names) {
      const taken = places.get(name)
      if (taken) throw new ModelsFileError(`${path}: ${namePlace} is the same name as ${taken}`)
      places.set(name, namePlace)
    }
  }
  return places
}

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.username === '' && url.password === '' && url.hash === ''
}

/**
 * Reads the file that lists the served models. A fault in it throws one ModelsFileError whose single line
 * gives the position. Upstream keys are never in the file, only the names of their environment variables.
 */
import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { findCapabilityFault } from './capability-faults.ts'
import { ModelEntry } from './model-entry.ts'

/** Limit: models of the file. */
const MODELS_MAX = 1_000

/** A models file that cannot be used; the message is one line. */
export class ModelsFileError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ModelsFileError'
  }
}

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
  if (entry.backend === 'tiny' || entry.backend === 'ai-sdk' || fault !== null) return fault
  if (entry.upstreams === undefined) {
    return entry.base_url === undefined && entry.backend === 'openai'
      ? 'base_url is required, or upstreams'
      : null
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

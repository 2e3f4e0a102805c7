/**
 * Loads a provider package of the AI SDK, which the operator installs: it is no dependency of this server. Errors are one
 * line, for the models file.
 */
import { readFileSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import type { EmbeddingModelV4, LanguageModelV4 } from '@ai-sdk/provider'
import { isObject } from '../../domain/json/is-object.ts'

/** What is used of a provider. */
interface Provider {
  languageModel(id: string): LanguageModelV4
  embeddingModel?(id: string): EmbeddingModelV4
}

/** Creates a provider from its settings. */
export type ProviderFactory = (settings: Record<string, unknown>) => Provider

interface PackageOptions {
  readonly name: string
  /** Export that creates the provider. Default: the only one whose name begins with `create`. */
  readonly factory?: string | undefined
  /** Folders whose `node_modules`, or those above them, may hold the package; the first one wins. */
  readonly folders: readonly string[]
}

/**
 * Returns the factory of a package; a package is loaded once.
 *
 * @throws Error that continues "names <package>, which ..."
 */
export function loadProviderFactory({ name, factory, folders }: PackageOptions): ProviderFactory {
  const path = findEntry(name, folders)
  if (path === null) throw new Error(`is not installed: npm install ${name}`)
  let loaded: unknown
  try {
    // Synchronous, so that a fault stops the start; node loads ES modules in this way, too.
    loaded = createRequire(path)(path)
  } catch (error) {
    throw new Error(`cannot be loaded (${(error as NodeJS.ErrnoException).code ?? 'error'})`)
  }
  return chooseFactory(isObject(loaded) ? loaded : { ...Object(loaded) }, name, factory)
}

/** Returns the path of the module that a package exports, or null. */
function findEntry(name: string, folders: readonly string[]): string | null {
  for (const folder of folders) {
    const base = join(folder, 'any.js')
    const manifest = findManifest(name, base)
    if (manifest === undefined) continue
    try {
      return createRequire(base).resolve(name)
    } catch {
      const entry = entryOf(readManifest(manifest))
      if (entry !== null) return join(dirname(manifest), entry)
    }
  }
  return null
}

function findManifest(name: string, base: string): string | undefined {
  try {
    return findPackageJSON(name, base)
  } catch {
    return undefined
  }
}

function readManifest(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/** Returns the entry of a package that exports itself only to `import`. */
function entryOf(manifest: unknown): string | null {
  const { exports, module, main } = Object(manifest)
  let entry = isObject(exports) && '.' in exports ? exports['.'] : exports
  while (isObject(entry)) entry = entry.node ?? entry.import ?? entry.default ?? null
  const path = entry ?? module ?? main
  return typeof path === 'string' ? path : null
}

function chooseFactory(
  loaded: Readonly<Record<string, unknown>>,
  name: string,
  wanted: string | undefined,
): ProviderFactory {
  const found = Object.entries(loaded).filter(
    ([key, value]) => /^create[A-Z]/.test(key) && typeof value === 'function',
  )
  const names = found.map(([key]) => key).join(', ') || 'none'
  if (wanted !== undefined) {
    const chosen = Object.hasOwn(loaded, wanted) ? loaded[wanted] : undefined
    if (typeof chosen === 'function') return chosen as ProviderFactory
    throw new Error(`does not export the function ${wanted}; set factory to one of: ${names}`)
  }
  // Some packages export one function under two names.
  const distinct = [...new Set(found.map(([, value]) => value))]
  if (distinct.length === 1) return distinct[0] as ProviderFactory
  const usual = `create${name.split('/').at(-1)?.replaceAll('-', '')}`.toLowerCase()
  const chosen = found.find(([key]) => key.toLowerCase() === usual)?.[1]
  if (chosen) return chosen as ProviderFactory
  throw new Error(`does not say what creates a provider; set factory to one of: ${names}`)
}

/** Returns the provider. @throws Error that continues "names <package>, which ..." */
export function openProvider(create: ProviderFactory, settings: Record<string, unknown>): Provider {
  try {
    return create(settings)
  } catch (error) {
    // Its message may repeat a setting.
    throw new Error(`does not take its options (${(error as Error).name})`)
  }
}

/** Version of the interface that this server speaks. */
const INTERFACE = 'v4'

/** Returns the model that a provider makes. @throws Error that continues "names <package>, which ..." */
export function openLanguageModel(
  provider: Provider,
  id: string,
  method: string | undefined,
): LanguageModelV4 {
  const made: unknown = Reflect.get(provider, method ?? 'languageModel')
  if (typeof made !== 'function') {
    throw new Error(`has no chats${method === undefined ? '' : ` by ${method}`}`)
  }
  const model = made.call(provider, id)
  requireInterface(model, 'doStream')
  return model
}

/** Returns the model of embeddings. @throws Error that continues "names <package>, which ..." */
export function openEmbeddingModel(provider: Provider, id: string): EmbeddingModelV4 {
  let model: EmbeddingModelV4 | undefined
  try {
    model = provider.embeddingModel?.(id)
  } catch {
    // A package without embeddings throws.
  }
  if (model === undefined) throw new Error('has no embeddings; leave them out of capabilities')
  requireInterface(model, 'doEmbed')
  return model
}

function requireInterface(model: unknown, method: string): void {
  const { specificationVersion: version, [method]: run } = Object(model)
  if (version === INTERFACE && typeof run === 'function') return
  const found = typeof version === 'string' ? version : 'none'
  throw new Error(`has interface ${found} of the AI SDK, and ${INTERFACE} is needed`)
}

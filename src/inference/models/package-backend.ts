/** Opens the backend of a model that a provider package of the AI SDK serves. */
import { dirname, resolve } from 'node:path'
import { createAiSdkBackend } from '../ai-sdk/backend.ts'
import { loadProviderFactory } from '../ai-sdk/package.ts'
import type { InferenceBackend } from '../backend.ts'
import type { ModelEntry } from './model-entry.ts'
import { ModelsFileError } from './models-file.ts'
import { readCa, readKey, type SecretsOptions, toRetryPolicy } from './upstream-settings.ts'

type PackageEntry = Extract<ModelEntry, { backend: 'ai-sdk' }>

/**
 * Loads the package from the folder of the models file, else from that of the process, else from that of this server.
 *
 * @param place - of the entry, for errors
 * @throws ModelsFileError for a missing key, and for a package that is missing or lacks what the entry needs
 */
export function openPackageBackend(
  entry: PackageEntry,
  place: string,
  options: SecretsOptions,
): InferenceBackend {
  const { package: packageName, factory, method, options_env, api_key_env } = entry
  const secrets = Object.entries(options_env).map(
    ([name, variable]) =>
      [name, readKey(variable, `${place}.options_env.${name}`, options)] as const,
  )
  const shared = {
    packageName,
    method,
    settings: { ...entry.options, ...Object.fromEntries(secrets) },
    secrets: secrets.map(([, value]) => value),
    providerOptions: entry.provider_options,
    baseUrl: entry.base_url ?? null,
    apiKey:
      api_key_env === undefined ? null : readKey(api_key_env, `${place}.api_key_env`, options),
    model: entry.upstream_model ?? entry.id,
    offers: entry.capabilities,
    timeoutMs: entry.timeout_ms,
    retries: toRetryPolicy(entry.retries),
    ca: readCa(entry.ca_file, `${place}.ca_file`, options),
    proxies: options.proxies ?? null,
    unsupported: entry.unsupported,
    callsTools: entry.tools,
  }
  const folders = [dirname(resolve(options.path)), process.cwd(), import.meta.dirname]
  try {
    const create = loadProviderFactory({ name: packageName, factory, folders })
    return createAiSdkBackend({ ...shared, create })
  } catch (error) {
    const told = (error as Error).message
    throw new ModelsFileError(
      `${options.path}: ${place}.package names ${packageName}, which ${told}`,
    )
  }
}

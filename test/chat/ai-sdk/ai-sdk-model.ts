/** One model behind a fake provider, served by a package of the AI SDK. */
import {
  type AiSdkBackendOptions,
  createAiSdkBackend,
} from '../../../src/inference/ai-sdk/backend.ts'
import { loadProviderFactory } from '../../../src/inference/ai-sdk/package.ts'
import type { ServedModel } from '../../../src/inference/models/registry.ts'
import { SYSTEM_CLOCK } from '../../../src/inference/openai/upstream/targets.ts'
import { REASONING_EFFORTS } from '../../../src/schemas/chat/chat-tool-fields.ts'
import { TIMEOUT_MS } from '../../support/model-server.ts'
import { WIRES, type WireName } from './provider-wires.ts'

export const SECRET = 'sk-provider-secret'

export function aiSdkBackend(
  name: WireName,
  baseUrl: string,
  options: Partial<AiSdkBackendOptions> = {},
) {
  const packageName = WIRES[name].package
  return createAiSdkBackend({
    packageName,
    create: loadProviderFactory({ name: packageName, folders: [import.meta.dirname] }),
    settings: name === 'amazon-bedrock' ? { region: 'us-east-1' } : {},
    secrets: [],
    providerOptions: {},
    baseUrl,
    apiKey: SECRET,
    model: 'm-up',
    clock: { ...SYSTEM_CLOCK, random: () => 0.01 },
    timeoutMs: TIMEOUT_MS,
    ...options,
  })
}

export function aiSdkModel(
  name: WireName,
  baseUrl: string,
  options: Partial<AiSdkBackendOptions> = {},
): ServedModel {
  return {
    id: 'served',
    aliases: [],
    ownedBy: 'org',
    created: 1_700_000_000,
    capabilities: {
      tools: true,
      prioritySchedulingEnabled: false,
      reasoningEfforts: REASONING_EFFORTS,
    },
    backend: aiSdkBackend(name, baseUrl, options),
    ...(options.offers ? { offers: options.offers } : {}),
    backendModel: 'm-up',
    fallbacks: [],
  }
}

/** The entry of a model that a provider package of the AI SDK serves. */
import { z } from 'zod'
import { baseUrl, COMMON_FIELDS, keyVariable, REMOTE_FIELDS } from './entry-fields.ts'

const PACKAGE_CHARS_MAX = 214
const SETTINGS_MAX = 64
/** Names of settings that this server gives itself. */
const OWN_SETTINGS: ReadonlySet<string> = new Set(['baseURL', 'fetch'])
const SECRET_NAME = /key|secret|token|password|credential|authorization|cookie/i

const exportName = () =>
  z
    .string('must be a string')
    .regex(/^[A-Za-z_$][\w$]{0,127}$/, 'must be a name of JavaScript')
    .optional()

export const AiSdkEntry = z.strictObject({
  ...COMMON_FIELDS,
  tools: z
    .boolean('must be true or false')
    .default(true)
    .describe('Whether it supports tool calls. Default true.'),
  backend: z.literal('ai-sdk').describe('A provider package of the AI SDK.'),
  package: z
    .string('must be a string')
    .regex(/^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/, 'must be the name of an npm package')
    .max(PACKAGE_CHARS_MAX, `must have at most ${PACKAGE_CHARS_MAX} characters`)
    .describe('The npm package, such as @ai-sdk/google, which must be installed.'),
  factory: exportName().describe(
    'Export that creates the provider. Default: the one whose name begins with create.',
  ),
  method: exportName().describe(
    'Method of the provider that makes models of chats, such as chat. Default languageModel.',
  ),
  base_url: baseUrl()
    .optional()
    .describe(
      'Address of the provider, with the version. Default: the one that the package knows.',
    ),
  options: z
    .record(z.string(), z.json(), 'must be an object')
    .refine(
      (options) => Object.keys(options).length <= SETTINGS_MAX,
      `must have at most ${SETTINGS_MAX} members`,
    )
    .refine(
      (options) => Object.keys(options).every((name) => !OWN_SETTINGS.has(name)),
      'must not set baseURL or fetch: base_url is a field of its own',
    )
    .refine(
      (options) => !holdsSecret(options),
      'must hold no keys: options_env names their variables',
    )
    .default({})
    .describe('Settings of the provider, such as region; none may hold a key.'),
  options_env: z
    .record(
      z.string().regex(/^(?!(?:baseURL|fetch)$)[A-Za-z_]\w{0,127}$/, 'must have names of settings'),
      keyVariable().unwrap(),
      'must be an object',
    )
    .default({})
    .describe('Settings of the provider whose values are in environment variables, by name.'),
  provider_options: z
    .record(z.string(), z.record(z.string(), z.json(), 'must be an object'), 'must be an object')
    .default({})
    .describe('Options of each call, by provider, as in the documentation of the package.'),
  ...REMOTE_FIELDS,
})

/** Whether a name in an object, at any depth, is one of a secret. */
function holdsSecret(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([name, member]) => (!Array.isArray(value) && SECRET_NAME.test(name)) || holdsSecret(member),
  )
}

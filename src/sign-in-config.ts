/** The settings of signing in, at an identity provider or with passwords. */
import { z } from 'zod'
import { ClaimRule } from './schemas/access/person.ts'

/** Hosts whose requests stay on this machine: only they may use http. */
const LOCAL_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

const address = z.string().refine((text) => {
  const url = URL.parse(text)
  return (
    url?.protocol === 'https:' || (url?.protocol === 'http:' && LOCAL_HOSTS.includes(url.hostname))
  )
}, 'must be an https address, or http on localhost')

const origin = address.refine((text) => {
  const url = URL.parse(text)
  return url !== null && `${url.origin}/` === url.href
}, 'must be an address without a path, user or query, as https://weft.example')

const rules = z.string().transform((text, context): ClaimRule[] => {
  try {
    const parsed = z.array(ClaimRule).max(1000).safeParse(JSON.parse(text))
    if (parsed.success) return parsed.data
    const issue = parsed.error.issues[0]
    context.addIssue(`has a wrong rule: ${issue?.path.join('.')} ${issue?.message}`)
  } catch {
    context.addIssue(
      'must be JSON: [{"claim": "groups", "value": "ml", "role": "viewer", "projects": ["*"]}]',
    )
  }
  return z.NEVER
})

/** A number of milliseconds from a minute to 100 days. */
const duration = z
  .string()
  .regex(/^\d{5,10}$/, 'must be a whole number from 60000 to 8640000000')
  .transform(Number)
  .refine((value) => value >= 60_000 && value <= 8_640_000_000, 'must be from 60000 to 8640000000')

export const SIGN_IN_VARIABLES = {
  WEFT_PUBLIC_URL: origin.optional(),
  WEFT_LOCAL_ACCOUNTS: z.enum(['off', 'on'], 'must be off or on').default('off'),
  WEFT_OIDC_ISSUER: address.optional(),
  WEFT_OIDC_CLIENT_ID: z.string().min(1).optional(),
  WEFT_OIDC_CLIENT_SECRET: z.string().min(1).optional(),
  WEFT_OIDC_SCOPES: z.string().min(1).default('openid email profile'),
  WEFT_OIDC_GRANTS: rules.optional(),
  WEFT_SESSION_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  WEFT_SESSION_IDLE_MS: duration.default(8 * 3_600_000),
  WEFT_SESSION_MS_MAX: duration.default(7 * 86_400_000),
}

type Values = z.output<z.ZodObject<typeof SIGN_IN_VARIABLES>>

/** @param fail - throws the fault, one line */
export function toSignIn(values: Values, fail: (fault: string) => never) {
  const hasPasswords = values.WEFT_LOCAL_ACCOUNTS === 'on'
  const provider = toProvider(values, fail)
  const names = [
    ...(provider === null ? [] : ['WEFT_OIDC_ISSUER']),
    ...(hasPasswords ? ['WEFT_LOCAL_ACCOUNTS=on'] : []),
  ]
  if (names.length === 0) {
    if (values.WEFT_SESSION_SECRET === undefined) return null
    return fail('WEFT_SESSION_SECRET needs WEFT_OIDC_ISSUER or WEFT_LOCAL_ACCOUNTS=on')
  }
  const { WEFT_PUBLIC_URL: publicUrl, WEFT_SESSION_SECRET: sessionSecret = null } = values
  if (publicUrl === undefined) return fail(`WEFT_PUBLIC_URL must be set for ${names.join(' and ')}`)
  return Object.freeze({
    /** As browsers see this server, without a path. */
    publicOrigin: new URL(publicUrl).origin,
    /** Null: nobody signs in at a provider. */
    provider,
    hasPasswords,
    /** Null: generated into the data directory. Secret. */
    sessionSecret,
    idleMs: values.WEFT_SESSION_IDLE_MS,
    lifeMs: values.WEFT_SESSION_MS_MAX,
  })
}

function toProvider(values: Values, fail: (fault: string) => never) {
  const { WEFT_OIDC_ISSUER: issuer, WEFT_OIDC_CLIENT_ID: clientId } = values
  if (issuer === undefined) {
    const stray = (
      ['WEFT_OIDC_CLIENT_ID', 'WEFT_OIDC_CLIENT_SECRET', 'WEFT_OIDC_GRANTS'] as const
    ).find((name) => values[name] !== undefined)
    return stray === undefined ? null : fail(`${stray} needs WEFT_OIDC_ISSUER`)
  }
  if (clientId === undefined) return fail('WEFT_OIDC_CLIENT_ID must be set')
  return Object.freeze({
    issuer,
    clientId,
    /** Null: a public client, by PKCE alone. Secret. */
    clientSecret: values.WEFT_OIDC_CLIENT_SECRET ?? null,
    scopes: values.WEFT_OIDC_SCOPES,
    /** What claims give which roles. */
    rules: values.WEFT_OIDC_GRANTS ?? [],
  })
}

/**
 * The settings of one server, read once from the environment. Nothing else reads process.env.
 * A wrong or misspelled variable is a ConfigError of one line.
 */
import { z } from 'zod'
import { SIGN_IN_VARIABLES, toSignIn } from './sign-in-config.ts'

/** Limit: the process exits at most this long after a signal. */
export const SHUTDOWN_MS_MAX = 9_500

const MIB = 1024 * 1024
const ADDRESS_FAULT = 'must be an http or https address'

/** A whole number in a range, written in decimal. */
function whole(min: number, max: number) {
  return z
    .string()
    .regex(/^-?\d{1,15}$/, {
      // Quoted, because what is wrong may be a character that does not show.
      error: ({ input }) =>
        `must be a whole number from ${min} to ${max}, not ${JSON.stringify(input).slice(0, 40)}`,
    })
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`)
}

/** The URL of a proxy; without a scheme it is http, as in common tools. */
function proxyAddress() {
  return z
    .string()
    .transform((text) => (text.includes('://') ? text : `http://${text}`))
    .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), ADDRESS_FAULT)
}

const Environment = z.object({
  WEFT_HOST: z.string().min(1).default('127.0.0.1'),
  WEFT_PORT: whole(0, 65_535).default(8080),
  WEFT_DATA_DIR: z.string().min(1).default('./data'),
  WEFT_BOOTSTRAP_KEY: z
    .string()
    .min(16, 'must have at least 16 characters')
    // Others cannot be sent as a token, or not by every client.
    .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces')
    .optional(),
  WEFT_MODELS_FILE: z.string().min(1).default('./models.json'),
  WEFT_REF_SCHEME: z
    .string()
    .regex(/^[a-z][a-z0-9+.-]{0,31}$/, 'must be a URI scheme in lower case')
    .default('weave'),
  WEFT_STORE: z.enum(['sqlite', 'clickhouse'], 'must be sqlite or clickhouse').default('sqlite'),
  WEFT_CLICKHOUSE_URL: z
    .string()
    .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), ADDRESS_FAULT)
    .optional(),
  WEFT_CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be a name of letters, digits, _ and -')
    .optional(),
  WEFT_META_URL: z
    .string()
    .regex(/^postgres(?:ql)?:\/\//, 'must be an address of postgres://')
    .optional(),
  WEFT_RETENTION_DAYS: whole(0, 36_500).default(0),
  WEFT_AUDIT_RETENTION_DAYS: whole(0, 36_500).default(0),
  WEFT_ALERT_INTERVAL_MS: whole(0, 3_600_000).default(60_000),
  WEFT_LOG_LEVEL: z
    .enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be fatal, error, warn, info, debug, trace or silent',
    )
    .default('info'),
  WEFT_BODY_BYTES_MAX: whole(1024, 1024 * MIB).default(32 * MIB),
  WEFT_TRAINING_BODY_BYTES_MAX: whole(1024, 1024 * MIB).default(256 * MIB),
  WEFT_OTLP_GRPC_PORT: whole(0, 65_535).optional(),
  WEFT_OTLP_BODY_BYTES_MAX: whole(1024, 1024 * MIB).default(64 * MIB),
  WEFT_ARTIFACT_BYTES_MAX: whole(1024, 1024 * 1024 * MIB).default(4096 * MIB),
  WEFT_WORKER_LEASE_MS: whole(100, 3_600_000).default(60_000),
  WEFT_TRAINING_WALL_MS: whole(100, 30 * 86_400_000).default(6 * 3_600_000),
  WEFT_TRAINING_RETRY_MS: whole(0, 300_000).default(1_000),
  WEFT_TRAINING_QUEUE_TIMEOUT_MS: whole(0, 30 * 86_400_000).default(0),
  WEFT_TRAINER: z.enum(['on', 'off'], 'must be on or off').default('on'),
  WEFT_FEEDBACK_PAYLOAD_BYTES_MAX: whole(1024, 64 * MIB).default(MIB),
  WEFT_REQUEST_TIMEOUT_MS: whole(1000, 3_600_000).default(300_000),
  WEFT_DRAIN_TIMEOUT_MS: whole(0, 6_000).default(5_000),
  WEFT_INGEST_QUEUE_MAX: whole(1, 1_000_000).default(10_000),
  WEFT_INGEST_QUEUE_BYTES_MAX: whole(MIB, 64 * 1024 * MIB).default(256 * MIB),
  WEFT_READ_THREADS: whole(1, 64).default(2),
  WEFT_STATS_THREADS: whole(1, 64).default(2),
  WEFT_READ_QUEUE_MAX: whole(1, 100_000).default(256),
  WEFT_READ_TIMEOUT_MS: whole(100, 3_600_000).default(60_000),
  WEFT_CHAT_QUEUE_MAX: whole(1, 100_000).default(256),
  WEFT_CACHE_BYTES_MAX: whole(MIB, 64 * 1024 * MIB).default(256 * MIB),
  WEFT_TINY_MODEL: z.string().min(1).optional(),
  WEFT_TINY_CHAT_TEMPLATES: z.enum(['off', 'on'], 'must be off or on').default('off'),
  WEFT_KEY_COMPLETIONS_MAX: whole(0, 100_000).default(0),
  WEFT_KEY_REQUESTS_PER_MINUTE: whole(0, 1_000_000_000).default(0),
  WEFT_KEY_TOKENS_PER_MINUTE: whole(0, 1_000_000_000_000).default(0),
  WEFT_WEBHOOK_HOSTS: z
    .string()
    .regex(
      /^(?:\*|[A-Za-z0-9.:-]+(?: *, *[A-Za-z0-9.:-]+)*)$/,
      'must be hosts, separated by commas, or *',
    )
    .optional(),
  ...SIGN_IN_VARIABLES,
  HTTP_PROXY: proxyAddress().optional(),
  HTTPS_PROXY: proxyAddress().optional(),
  NO_PROXY: z.string().optional(),
})

/** The default of each variable; a test compares `.env.example` and the README with them. */
export const VARIABLE_DEFAULTS = Environment.parse({})

/** The names of all variables, as `.env.example` must list them. */
export const VARIABLE_NAMES: readonly string[] = Object.keys(Environment.shape)

/** Variables that Weft shares with other programs. */
const PROXY_NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const

/** Settings with units in their names; frozen. */
export type Config = ReturnType<typeof toConfig>

/** A setting that cannot be used; the message is one line and names the variable. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigError'
  }
}

/**
 * Reads the settings. An empty variable counts as unset.
 *
 * @param environment - usually process.env
 * @throws ConfigError naming the first wrong variable, or a WEFT_ variable that does not exist
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const own = Object.entries(environment).filter(
    ([name, value]) => name.startsWith('WEFT_') && value !== undefined && value !== '',
  )
  const stranger = own.find(([name]) => !VARIABLE_NAMES.includes(name))
  if (stranger) throw new ConfigError(`${stranger[0]} is not a Weft variable (see README.md)`)
  // Both cases are common; like other programs, the lower-case name has precedence.
  const proxies = PROXY_NAMES.flatMap((name) => {
    const value = environment[name.toLowerCase()] || environment[name]
    return value ? [[name, value]] : []
  })
  const parsed = Environment.safeParse(Object.fromEntries([...own, ...proxies]))
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new ConfigError(`${issue?.path.join('.')} ${issue?.message}`)
  }
  return toConfig(parsed.data)
}

/**
 * The value of a variable that another setting names, as the key of an upstream; null when it is unset
 * or empty. Secret.
 */
export function readSecret(
  name: string,
  environment: NodeJS.ProcessEnv = process.env,
): string | null {
  return environment[name] || null
}

type Values = z.output<typeof Environment>

function toConfig(values: Values) {
  return Object.freeze({
    host: values.WEFT_HOST,
    /** 0 = any free port. */
    port: values.WEFT_PORT,
    dataDir: values.WEFT_DATA_DIR,
    /** A key with all scopes on all projects, or null. Secret. */
    bootstrapKey: values.WEFT_BOOTSTRAP_KEY ?? null,
    modelsFile: values.WEFT_MODELS_FILE,
    /** True when WEFT_MODELS_FILE names another file than the default one: then it must exist. */
    modelsFileRequired: values.WEFT_MODELS_FILE !== VARIABLE_DEFAULTS.WEFT_MODELS_FILE,
    refScheme: values.WEFT_REF_SCHEME,
    store: values.WEFT_STORE,
    /** Address of the calls with the store `clickhouse`; null with any other store. */
    clickhouse: toClickHouse(values),
    /**
     * URL of the PostgreSQL database in which processes with the store `clickhouse` share all data but calls; null:
     * each has its own SQLite database. Secret.
     */
    metaUrl: toMetaUrl(values),
    /** Retention in days of projects without a setting; null: forever. */
    retentionDays: values.WEFT_RETENTION_DAYS || null,
    /** Retention in days of the audit list; null: forever. */
    auditRetentionDays: values.WEFT_AUDIT_RETENTION_DAYS || null,
    logLevel: values.WEFT_LOG_LEVEL,
    bodyBytesMax: values.WEFT_BODY_BYTES_MAX,
    trainingBodyBytesMax: values.WEFT_TRAINING_BODY_BYTES_MAX,
    /** Port of OTLP over gRPC, or null for none; 0 = any free port. */
    otlpGrpcPort: values.WEFT_OTLP_GRPC_PORT ?? null,
    otlpBodyBytesMax: values.WEFT_OTLP_BODY_BYTES_MAX,
    artifactBytesMax: values.WEFT_ARTIFACT_BYTES_MAX,
    training: {
      /** Longest time between two heartbeats of a worker. */
      leaseMs: values.WEFT_WORKER_LEASE_MS,
      /** Total time of one attempt. */
      wallMs: values.WEFT_TRAINING_WALL_MS,
      /** Delay before the second attempt; doubles with each further one. */
      retryMs: values.WEFT_TRAINING_RETRY_MS,
      /** How long a job may wait for a worker; 0: unlimited. */
      queueTimeoutMs: values.WEFT_TRAINING_QUEUE_TIMEOUT_MS,
    },
    feedbackPayloadBytesMax: values.WEFT_FEEDBACK_PAYLOAD_BYTES_MAX,
    requestTimeoutMs: values.WEFT_REQUEST_TIMEOUT_MS,
    drainTimeoutMs: values.WEFT_DRAIN_TIMEOUT_MS,
    ingestQueueMax: values.WEFT_INGEST_QUEUE_MAX,
    ingestQueueBytesMax: values.WEFT_INGEST_QUEUE_BYTES_MAX,
    readThreads: values.WEFT_READ_THREADS,
    statsThreads: values.WEFT_STATS_THREADS,
    readQueueMax: values.WEFT_READ_QUEUE_MAX,
    readTimeoutMs: values.WEFT_READ_TIMEOUT_MS,
    chatQueueMax: values.WEFT_CHAT_QUEUE_MAX,
    cacheBytesMax: values.WEFT_CACHE_BYTES_MAX,
    /** Path of a GGUF file that replaces the built-in model, or null. */
    tinyModel: values.WEFT_TINY_MODEL ?? null,
    /** Whether requests to `tiny` may contain a chat template. */
    tinyChatTemplates: values.WEFT_TINY_CHAT_TEMPLATES === 'on',
    /** Whether this server trains `tiny` itself. */
    trainer: values.WEFT_TRAINER === 'on',
    /** Per key, concurrently; null: unlimited, also in the next two. */
    keyCompletionsMax: values.WEFT_KEY_COMPLETIONS_MAX || null,
    keyRequestsPerMinute: values.WEFT_KEY_REQUESTS_PER_MINUTE || null,
    keyTokensPerMinute: values.WEFT_KEY_TOKENS_PER_MINUTE || null,
    /** Hosts of private networks that webhooks may be sent to, in lower case; `*`: all. */
    webhookHosts: (values.WEFT_WEBHOOK_HOSTS?.toLowerCase() ?? '').split(/ *, */).filter(Boolean),
    /** From one check of an alert to the next; null: this process neither checks nor delivers. */
    alertIntervalMs: values.WEFT_ALERT_INTERVAL_MS || null,
    /** How people sign in; null: they do not. */
    signIn: toSharedSignIn(values),
    /** Proxies for requests to upstreams; null: none. */
    proxies: toProxies(values),
  })
}

/**
 * The URL has user, password and database: secret. Tables are made on the cluster; null: one server. Without the store
 * it is refused: whoever sets it expects the calls there.
 */
function toClickHouse(values: Values) {
  const { WEFT_CLICKHOUSE_URL: url, WEFT_CLICKHOUSE_CLUSTER: cluster = null } = values
  if (values.WEFT_STORE !== 'clickhouse') {
    if (url !== undefined) throw new ConfigError('WEFT_CLICKHOUSE_URL needs WEFT_STORE=clickhouse')
    return null
  }
  if (url === undefined) throw new ConfigError('WEFT_CLICKHOUSE_URL must be set')
  return { url, cluster }
}

/** With SQLite one process owns the calls, so there is no other process to share with. */
function toMetaUrl({ WEFT_META_URL: url, WEFT_STORE: store }: Values) {
  if (url === undefined) return null
  if (store !== 'clickhouse') throw new ConfigError('WEFT_META_URL needs WEFT_STORE=clickhouse')
  return url
}

/** Processes that share people must accept each other's cookies: a generated secret would be that of one. */
function toSharedSignIn(values: Values) {
  const signIn = toSignIn(values, (fault) => {
    throw new ConfigError(fault)
  })
  if (signIn?.sessionSecret === null && values.WEFT_META_URL !== undefined) {
    throw new ConfigError(
      'WEFT_SESSION_SECRET must be set for people who sign in with WEFT_META_URL',
    )
  }
  return signIn
}

/**
 * Proxies for http and https URLs, which may hold passwords: secret; and hosts that bypass them. An empty string
 * means none.
 */
function toProxies(values: Values) {
  const { HTTP_PROXY: http = '', HTTPS_PROXY: https = '', NO_PROXY: except = '' } = values
  return http === '' && https === '' ? null : { http, https, except }
}

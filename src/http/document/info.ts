/** The general parts of the document: title, groups of routes, credentials. */

export const INFO = {
  title: 'Weft',
  description:
    'Traced LLM calls, statistics, feedback, chat completions, training preview.\n\n' +
    'One kind of key, two schemes: Basic for the trace routes, Bearer below `/v1`. ' +
    'Every error has the body ErrorResponse, except those of OTLP; `code` is stable. Every answer has the header `x-request-id`; one about a project to which nothing was ever written has `x-weft-project: unknown`. ' +
    'Bodies are JSON unless a route says otherwise. Fields that a route does not list are refused; chat completions let them pass. ' +
    'Times are RFC 3339; no offset means UTC.\n\n' +
    'The routes under Basic authentication are also served below `/traces`, for tracing SDKs. This document does not repeat them. ' +
    'There the `svc_` names are spelt `wb_`, any well-formed ref is taken, and unknown fields are dropped instead of refused. ' +
    'Operations that say "addition to the spec", and all of the groups objects, tables, files, annotation, evaluators, projects, costs, server and worker, go beyond the published interface.',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
} as const

/**
 * Servers of the document: a relative address, which is the server that returned the document, under any name and
 * behind any proxy.
 */
export const SERVERS = [{ url: '/', description: 'The server that returned this document.' }]

export const TAGS = [
  { name: 'calls', description: 'Traced calls: recorded, read, listed, counted.' },
  { name: 'feedback', description: 'Feedback on objects and calls.' },
  { name: 'annotation', description: 'Queues of calls that people annotate.' },
  { name: 'evaluators', description: 'Evaluators, which score calls as they arrive.' },
  { name: 'costs', description: "A project's own prices of models." },
  {
    name: 'agents',
    description: 'Agents with their spans and turns, read from calls that were received as spans.',
  },
  {
    name: 'otel',
    description: 'OpenTelemetry: spans are recorded as calls, and traces are exported as OTLP.',
  },
  { name: 'objects', description: 'Published versions of objects and ops, and values by ref.' },
  { name: 'tables', description: 'Tables of rows, which hold the rows of datasets.' },
  { name: 'files', description: 'Files, addressed by their content.' },
  { name: 'projects', description: 'Sizes, settings and names of projects.' },
  { name: 'inference', description: 'Chat completions and the models that answer them.' },
  { name: 'preview', description: 'Preview: trainable models, training jobs, checkpoints.' },
  {
    name: 'worker',
    description: 'Preview: how a training worker claims jobs and uploads results.',
  },
  {
    name: 'server',
    description:
      'The server itself: health, versions, keys, people, budgets, alerts, the audit list, tools for agents, and what SDKs request first.',
  },
]

export const SECURITY_SCHEMES = {
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The password is the API key; the user name is ignored.',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'The token is the API key.' },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The API key, as clients of the Anthropic API send it.',
  },
} as const

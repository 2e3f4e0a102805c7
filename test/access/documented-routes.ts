/** All routes of the OpenAPI document, and the smallest requests that they accept. */
import type { TestApp, TestResponse } from '../support/build-test-app.ts'

// biome-ignore lint/suspicious/noExplicitAny: schemas of every shape.
type Schema = any

interface Route {
  /** As `POST /call/read`. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly operation: Schema
}

export const PROJECT = 'acme/demo'
const FIELDS: Readonly<Record<string, unknown>> = {
  project_id: PROJECT,
  entity: 'acme',
  project: 'demo',
  query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'x' }] } },
  costs: { m: { prompt_token_cost: 1, completion_token_cost: 1 } },
  refs: [`w:///${PROJECT}/object/x:v0`],
}

export async function readDocument({ get }: TestApp) {
  const document = (await get('/openapi.json', { key: null })).body
  const paths = Object.entries<Record<string, Schema>>(document.paths)
  const routes = paths.flatMap(([path, operations]) =>
    Object.entries(operations).map(([word, operation]): Route => {
      const method = word.toUpperCase() as Route['method']
      return { name: `${method} ${path}`, method, path, operation }
    }),
  )
  const resolve = (schema: Schema): Schema =>
    schema.$ref ? resolve(document.components.schemas[schema.$ref.split('/').at(-1)]) : schema

  /** The smallest value that a schema accepts, with the project where it names one. */
  function fill(given: Schema, name = ''): unknown {
    const schema = resolve(given)
    const { type, properties, required = [], items, format, pattern = '', examples } = schema
    const known = FIELDS[name]
    if (known !== undefined && (typeof known === 'string') === (type === 'string')) return known
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return schema.enum[0]
    const options: Schema[] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []
    const option = options.find((one) => resolve(one).type !== 'null')
    if (option) return fill(option, name)
    if (type === 'object') {
      const names: string[] = required
      return Object.fromEntries(names.map((key) => [key, fill(properties[key], key)]))
    }
    if (type === 'array') {
      return Array.from({ length: Math.max(schema.minItems ?? 1, 1) }, () => fill(items))
    }
    if (type === 'number' || type === 'integer') return Math.max(schema.minimum ?? 1, 1)
    if (type === 'boolean') return true
    if (format === 'uuid') return '00000000-0000-4000-8000-000000000000'
    if (format === 'date-time') return '2026-01-31T09:30:00Z'
    if (pattern.includes('://')) {
      return `w:///${PROJECT}/${pattern.includes('call') ? 'call/c' : 'object/x:v0'}`
    }
    return examples?.[0] ?? 'x'
  }

  return { routes, fill }
}

interface Asked {
  /** Null: no credentials. */
  readonly key: string | null
  readonly headers?: Record<string, string>
  readonly body?: unknown
  /** Texts of a query. */
  readonly query?: Readonly<Record<string, string>>
}

export function send(
  app: TestApp,
  { method, path }: Route,
  { key, body, query = {}, headers = {} }: Asked,
) {
  const filled = path.replace('{entity}', 'acme').replace('{project}', 'demo')
  const url = `${filled.replaceAll(/\{\w+\}/g, 'x')}?${new URLSearchParams(query)}`
  if (method === 'GET') return app.get(url, { key, headers })
  if (method === 'DELETE') return app.delete(url, { key, body, headers })
  if (method === 'PATCH') return app.patch(url, body, { key, headers })
  return method === 'PUT'
    ? app.put(url, body, { key, headers })
    : app.post(url, body, { key, headers })
}

/** The error code, for a batch that of its first item; otherwise the status. */
export const outcomeOf = ({ status, body }: TestResponse): string =>
  String(body?.error?.code ?? body?.res?.[0]?.error?.code ?? status)

/** The smallest query and body that a route accepts. */
export function fillRequest(
  { operation }: Route,
  fill: (schema: Schema, name?: string) => unknown,
) {
  const schema = operation.requestBody?.content['application/json']?.schema
  const parameters: readonly Schema[] = operation.parameters ?? []
  const query = parameters
    .filter((one) => one.in === 'query' && (one.required || one.name === 'project_id'))
    .map((one) => [one.name, String(fill(one.schema, one.name))])
  return { query: Object.fromEntries(query), body: schema && fill(schema) }
}

import { expect } from 'vitest'
import { basic, buildTestApp } from '../support/build-test-app.ts'

export const BASE = '/api/public'
export const project = 'acme/demo'
export const TRACE = '0af7651916cd43dd8448eb211c80319c'

export interface SentSpan {
  readonly id: string
  readonly parent?: string
  readonly trace?: string
  readonly name: string
  /** Seconds after the beginning of 2026. */
  readonly at?: number
  readonly attributes?: Readonly<Record<string, string | readonly string[]>>
}

const BEGIN_S = 1_767_225_600

function toAnyValue(value: string | readonly string[]) {
  if (typeof value === 'string') return { stringValue: value }
  return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } }
}

/** An app with a key of one project, and spans as Langfuse's SDKs send them. */
export async function openLangfuse() {
  const app = await buildTestApp()
  const key = await app.createKey({ projects: [project] })
  const langfuse = { key: null, headers: { authorization: basic(app.key, project) } }
  return {
    ...app,
    key,
    langfuse,
    async sendSpans(...sent: readonly SentSpan[]) {
      const spans = sent.map(({ id, parent, trace = TRACE, name, at = 0, attributes = {} }) => ({
        traceId: trace,
        spanId: id,
        ...(parent === undefined ? {} : { parentSpanId: parent }),
        name,
        startTimeUnixNano: `${BEGIN_S + at}000000000`,
        endTimeUnixNano: `${BEGIN_S + at + 1}000000000`,
        attributes: Object.entries(attributes).map(([key, value]) => ({
          key,
          value: toAnyValue(value),
        })),
      }))
      const body = { resourceSpans: [{ scopeSpans: [{ spans }] }] }
      const { status } = await app.post(`${BASE}/otel/v1/traces`, body, langfuse)
      expect(status).toBe(200)
    },
  }
}

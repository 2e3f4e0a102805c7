/** OpenLLMetry's spans of Bedrock (0.62.4), whose input leaves out what a cache had or took, as Converse counts. Pure data. */
import type { Dialect } from './dialect.ts'

export const OPENLLMETRY_BEDROCK: Dialect = {
  name: 'openllmetry_bedrock',
  scope: 'opentelemetry.instrumentation.bedrock',
  inputTokens: ['gen_ai.usage.input_tokens'],
  countsCacheBeside: true,
}

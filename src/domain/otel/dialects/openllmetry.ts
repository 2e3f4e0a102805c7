/** OpenLLMetry's spans whose input leaves out what a cache had or took, as the provider counts. Pure data. */
import type { Dialect } from './dialect.ts'

/** For Python (0.62.4). */
export const OPENLLMETRY_BEDROCK: Dialect = {
  name: 'openllmetry_bedrock',
  scope: 'opentelemetry.instrumentation.bedrock',
  inputTokens: ['gen_ai.usage.input_tokens'],
  countsCacheBeside: true,
}

/** For JavaScript (0.27.0); that for Python counts the cached input inside. */
export const OPENLLMETRY_ANTHROPIC_JS: Dialect = {
  name: 'openllmetry_anthropic_js',
  scope: '@traceloop/instrumentation-anthropic',
  inputTokens: ['gen_ai.usage.input_tokens'],
  countsCacheBeside: true,
}

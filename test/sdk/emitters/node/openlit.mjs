/** OpenLIT around the clients of OpenAI and Anthropic. It exports by itself: its requests fail with a provider of the program's. */
import { createRequire } from 'node:module'
import { trace } from '@opentelemetry/api'
import { runSteps } from './steps.mjs'

const require = createRequire(import.meta.url)
const { default: openlit } = require('openlit')
const openai = require('openai')
const anthropic = require('@anthropic-ai/sdk')
openlit.init({
  applicationName: 'program',
  disableMetrics: true,
  disableEvents: true,
  // It would fetch its list of prices.
  pricingJson: {},
  instrumentations: { openai, anthropic },
})
const isAnthropic = process.env.API === 'anthropic'
const { stepsOf } = await import(isAnthropic ? './anthropic-steps.mjs' : './openai-steps.mjs')
const Client = isAnthropic ? anthropic.Anthropic : openai.OpenAI
const shutdown = () => trace.getTracerProvider().getDelegate().shutdown()
await runSteps({ shutdown }, stepsOf(new Client({ maxRetries: 0 })))

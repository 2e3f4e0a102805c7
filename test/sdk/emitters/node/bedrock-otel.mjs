/** OpenTelemetry's own instrumentation of AWS's clients. */
import { createRequire } from 'node:module'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { AwsInstrumentation } from '@opentelemetry/instrumentation-aws-sdk'
import { stepsOf } from './bedrock-steps.mjs'
import { openProvider, runSteps } from './steps.mjs'

const provider = await openProvider()
registerInstrumentations({ tracerProvider: provider, instrumentations: [new AwsInstrumentation()] })
// What is loaded by `require` is patched.
const bedrock = createRequire(import.meta.url)('@aws-sdk/client-bedrock-runtime')
await runSteps(provider, stepsOf(bedrock))

/** Spans of Genkit (1.42 for JavaScript, 1.4 for Go): request and response of each step as JSON. Pure data. */
import type { Dialect } from './dialect.ts'

export const GENKIT: Dialect = {
  name: 'genkit',
  holders: ['genkit:input', 'genkit:output'],
  kind: ['genkit:metadata:subtype', 'genkit:type'],
  requestedModel: [
    'genkit:input.model',
    {
      path: 'genkit:name',
      form: 'text',
      when: ['genkit:metadata:subtype', 'model', 'embedder', 'reranker'],
    },
  ],
  model: ['genkit:output.raw.model', 'genkit:output.raw.modelVersion'],
  messages: ['genkit:input.messages'],
  tools: ['genkit:input.tools'],
  input: ['genkit:input'],
  answers: ['genkit:output.message'],
  output: ['genkit:output'],
  finish: ['genkit:output.finishReason'],
  // Its own report has no cached tokens in some plugins.
  providerUsage: ['genkit:output.raw.usage', 'genkit:output.raw.usageMetadata'],
  usage: ['genkit:output.usage'],
  parameters: ['genkit:input.config'],
}

/** Spans that MLflow's tracing exports (3.17.2): every value is JSON as a text. Pure data. */
import type { AttributePath, Dialect } from './dialect.ts'

const ofModel = (path: string): AttributePath => ({
  path,
  form: 'json',
  when: ['mlflow.spanType', 'CHAT_MODEL', 'LLM'],
})

export const MLFLOW: Dialect = {
  name: 'mlflow',
  holders: [
    'mlflow.spanType',
    'mlflow.spanInputs',
    'mlflow.spanOutputs',
    'mlflow.chat.tokenUsage',
    'mlflow.llm.model',
    'mlflow.llm.provider',
  ],
  kind: ['mlflow.spanType'],
  requestedModel: ['mlflow.spanInputs.model'],
  model: ['mlflow.llm.model'],
  provider: ['mlflow.llm.provider'],
  messages: [ofModel('mlflow.spanInputs.messages')],
  tools: ['mlflow.chat.tools', 'mlflow.spanInputs.tools'],
  input: ['mlflow.spanInputs'],
  answers: [ofModel('mlflow.spanOutputs.choices')],
  output: ['mlflow.spanOutputs'],
  // MLflow's own counts have neither reasoning nor, for Responses, what a cache took.
  providerUsage: [
    {
      ...ofModel('mlflow.spanOutputs.usage'),
      when: ['mlflow.spanType', 'CHAT_MODEL', 'LLM', 'EMBEDDING'],
    },
  ],
  // Of Anthropic's counts, too, the input has what a cache had or took.
  usage: ['mlflow.chat.tokenUsage'],
  cost: ['mlflow.llm.cost'],
  parameters: [ofModel('mlflow.spanInputs')],
}

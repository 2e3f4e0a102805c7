/**
 * Where each dialect of GenAI spans stores the fields of a call: one table per dialect, tried in this order; the first
 * path with a value wins. Pure data. Paths are dotted attribute keys, or prefixes of flattened ones.
 */
import { GEN_AI, OPEN_INFERENCE, TRACELOOP, UNCACHED_INPUT, WEAVE } from './conventions.ts'
import type { Dialect } from './dialect.ts'
import {
  ADK,
  AG2,
  ANTHROPIC_SDK,
  CLAUDE_CODE,
  GENKIT,
  MASTRA,
  SPRING_AI,
  VERCEL,
  VOLTAGENT,
} from './libraries.ts'
import {
  LAMINAR,
  LANGFUSE,
  LANGSMITH,
  LITELLM,
  LITELLM_LANGFUSE,
  LOGFIRE,
  LOGFIRE_AGENTS,
  MLFLOW,
} from './platforms.ts'

export const DIALECTS: readonly Dialect[] = [
  WEAVE,
  UNCACHED_INPUT,
  LOGFIRE_AGENTS,
  GEN_AI,
  AG2,
  ANTHROPIC_SDK,
  LITELLM_LANGFUSE,
  OPEN_INFERENCE,
  TRACELOOP,
  VERCEL,
  LOGFIRE,
  ADK,
  LANGFUSE,
  CLAUDE_CODE,
  GENKIT,
  MLFLOW,
  LANGSMITH,
  LAMINAR,
  LITELLM,
  MASTRA,
  VOLTAGENT,
  SPRING_AI,
]

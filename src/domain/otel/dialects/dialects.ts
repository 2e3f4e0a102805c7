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
  HAYSTACK,
  MASTRA,
  MIRASCOPE,
  PIPECAT,
  PIPECAT_UNCACHED,
  SPRING_AI,
  VERCEL,
  VOLTAGENT,
} from './libraries.ts'
import {
  LAMINAR,
  LANGFUSE,
  LANGSMITH,
  LANGWATCH,
  LANGWATCH_TRACE,
  LITELLM,
  LITELLM_LANGFUSE,
  LOGFIRE,
  LOGFIRE_AGENTS,
  MLFLOW,
  TRACEAI,
} from './platforms.ts'

export const DIALECTS: readonly Dialect[] = [
  WEAVE,
  UNCACHED_INPUT,
  PIPECAT_UNCACHED,
  LOGFIRE_AGENTS,
  TRACEAI,
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
  LANGWATCH,
  LANGWATCH_TRACE,
  LITELLM,
  MASTRA,
  VOLTAGENT,
  SPRING_AI,
  PIPECAT,
  MIRASCOPE,
  HAYSTACK,
]

/** The tools whose data can be imported. */
import { openLangfuse } from './langfuse.ts'
import { openMlflow } from './mlflow.ts'
import { openOtlpFiles } from './otlp.ts'
import { openPhoenix } from './phoenix.ts'
import type { OpenSource } from './source.ts'

export const SOURCES = {
  otlp: openOtlpFiles,
  phoenix: openPhoenix,
  mlflow: openMlflow,
  langfuse: openLangfuse,
} as const satisfies Readonly<Record<string, OpenSource>>

export type SourceName = keyof typeof SOURCES

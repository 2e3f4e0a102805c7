/** The tools whose data can be imported. */
import { openLangfuse } from './langfuse.ts'
import { openLangsmith } from './langsmith.ts'
import { openMlflow } from './mlflow.ts'
import { openOpik } from './opik.ts'
import { openOtlpFiles } from './otlp.ts'
import { openPhoenix } from './phoenix.ts'
import type { OpenSource } from './source.ts'
import { openWeave } from './weave.ts'

export const SOURCES = {
  otlp: openOtlpFiles,
  phoenix: openPhoenix,
  mlflow: openMlflow,
  langfuse: openLangfuse,
  langsmith: openLangsmith,
  opik: openOpik,
  weave: openWeave,
} as const satisfies Readonly<Record<string, OpenSource>>

export type SourceName = keyof typeof SOURCES

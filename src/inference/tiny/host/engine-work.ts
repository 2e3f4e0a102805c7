/** The kinds of work of the model's process, and their results. */
import type { Delta } from '../../backend.ts'
import type { CompletionPlan } from '../sampling/completion-plan.ts'
import { createGeneration } from '../sampling/generation.ts'
import type { Generation } from '../sampling/steps.ts'
import { type EmbeddingPlan, embedTexts, type VectorChunk } from '../services/embedding.ts'
import { listTokens, type TokenPlan, type TokensChunk } from '../services/token-text.ts'
import type { Engine } from './engine.ts'

export type EnginePlan = CompletionPlan | EmbeddingPlan | TokenPlan
export type EngineChunk = Delta | VectorChunk | TokensChunk

/** The kind of chunks that a plan yields. */
export type ChunkOf<P extends EnginePlan> = P extends EmbeddingPlan
  ? VectorChunk
  : P extends TokenPlan
    ? TokensChunk
    : Delta

/** A plan at its start; nothing is computed yet. @throws ApiError of a plan that cannot be done */
export function createWork(
  engine: Engine,
  plan: EnginePlan,
  owner: string,
): Generation<EngineChunk> {
  if (!('kind' in plan)) return createGeneration(engine, plan, owner)
  return plan.kind === 'embedding' ? embedTexts(engine, plan) : listTokens(engine, plan)
}

/** The kinds of work of the model's process, and their results. */
import type { Delta } from '../../backend.ts'
import type { CompletionPlan } from '../sampling/completion-plan.ts'
import { createGeneration } from '../sampling/generation.ts'
import type { Generation } from '../sampling/steps.ts'
import { type EmbeddingPlan, embedTexts, type VectorPiece } from '../services/embedding.ts'
import { type TokenPlan, type TokensPiece, tellTokens } from '../services/token-text.ts'
import type { Engine } from './engine.ts'

export type EnginePlan = CompletionPlan | EmbeddingPlan | TokenPlan
export type EnginePiece = Delta | VectorPiece | TokensPiece

/** The kind of pieces that a plan yields. */
export type PieceOf<P extends EnginePlan> = P extends EmbeddingPlan
  ? VectorPiece
  : P extends TokenPlan
    ? TokensPiece
    : Delta

/** A plan at its start; nothing is computed yet. @throws ApiError of a plan that cannot be done */
export function createWork(
  engine: Engine,
  plan: EnginePlan,
  owner: string,
): Generation<EnginePiece> {
  if (!('kind' in plan)) return createGeneration(engine, plan, owner)
  return plan.kind === 'embedding' ? embedTexts(engine, plan) : tellTokens(engine, plan)
}

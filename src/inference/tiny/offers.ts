/** The services of the tiny model. */
import type { Capability } from '../backend.ts'

export const TINY_OFFERS: readonly Capability[] = ['chat', 'completions', 'embeddings', 'tokenize']

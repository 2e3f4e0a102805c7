/** What the tiny model can be asked. */
import type { Capability } from '../backend.ts'

export const TINY_OFFERS: readonly Capability[] = ['chat', 'completions', 'embeddings', 'tokenize']

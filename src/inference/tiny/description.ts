/** What the tiny backend says of itself, also before it is opened. */
import type { Capability } from '../backend.ts'
import { TINY_FIELDS } from './field-support.ts'

export const TINY_OFFERS: readonly Capability[] = ['chat', 'completions', 'embeddings', 'tokenize']

/** @param allowsChatTemplate - whether clients may send a template. Spec: §4.3 chat_template */
export function describeTiny(allowsChatTemplate: boolean) {
  return {
    kind: 'tiny',
    fields: { ...TINY_FIELDS, chat_template: allowsChatTemplate ? 'honoured' : 'rejected' },
    hints: { chat_template: 'The server allows it with WEFT_TINY_CHAT_TEMPLATES=on.' },
    ignoresUnknown: true,
    takesAdapters: true,
    offers: TINY_OFFERS,
  } as const
}

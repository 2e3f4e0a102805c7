/** Headers of responses that name the model, its upstream, and the fields of the request that had no effect. */
import { findDroppedFields, findUnknownFields } from '../../domain/chat/chat-rules.ts'
import type { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { ServedModel } from '../models/registry.ts'
import type { CompletionObserver } from './try-models.ts'

/**
 * Returns the headers that name the answering model (and its upstream if it has several), the request fields that
 * are not sent to its engine, and the unknown fields that its backend ignores.
 *
 * @param upstream - its number from 1, or null
 *
 * Spec: §4.3 (headers not shown). Choice: names from the models file, never an address.
 */
export function nameBackend(
  body: ChatCompletionRequest,
  { id, backend, upstreamCount = 1 }: ServedModel,
  upstream: number | null,
  droppedFields: readonly string[] = [],
): Readonly<Record<string, string | null>> {
  const found = backend.findDropped?.(body) ?? []
  const dropped = [...droppedFields, ...findDroppedFields(body, backend.fields), ...found]
  return {
    ...nameModel({ id, upstreamCount }, upstream),
    'x-weft-dropped-fields': nameFields(dropped),
    'x-weft-ignored-fields': nameFields(backend.ignoresUnknown ? findUnknownFields(body) : []),
  }
}

export function nameModel(
  { id, upstreamCount = 1 }: Pick<ServedModel, 'id' | 'upstreamCount'>,
  upstream: number | null,
) {
  const name = encodeURI(id)
  return { 'x-weft-backend': upstreamCount > 1 && upstream ? `${name}#${upstream}` : name }
}

/** Escapes names for a header: headers are ASCII, but a client may send any name. */
export function nameFields(names: readonly string[]): string | null {
  if (names.length === 0) return null
  return names.map((name) => encodeURIComponent(name.toWellFormed())).join(', ')
}

type Headers = Readonly<Record<string, string | null>>

/** Sets the headers that name the model, and its upstream if it has several. */
export function observeHeaders(
  {
    model: asked,
    setHeaders,
  }: { readonly model: ServedModel; readonly setHeaders: (headers: Headers) => void },
  nameModel: (model: ServedModel, upstream: number | null) => Headers,
): Partial<CompletionObserver> {
  let current = asked
  /** Number of the asked model's upstream that got the request last. */
  let askedUpstream: number | null = null
  return {
    onModel(model) {
      current = model
      setHeaders(nameModel(model, null))
    },
    onUpstream(number) {
      if (current === asked) askedUpstream = number
      const { upstreamCount = 1, backend } = current
      if (upstreamCount > 1 || backend.findDropped) setHeaders(nameModel(current, number))
    },
    onAllFailed: () => setHeaders(nameModel(asked, askedUpstream)),
  }
}

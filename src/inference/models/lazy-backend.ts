/**
 * A backend that opens on its first completion, so a server that only records calls never loads a
 * model. Once closed it must not be opened again.
 */
import { ApiError } from '../../errors.ts'
import type { InferenceBackend } from '../backend.ts'

/** What a backend says of itself, and how to open it. */
interface LazyBackendOptions
  extends Pick<
    InferenceBackend,
    'kind' | 'fields' | 'hints' | 'ignoresUnknown' | 'takesAdapters' | 'offers'
  > {
  readonly open: () => InferenceBackend
}

/** Creates the lazy backend; completions after `close` throw server_draining. */
export function createLazyBackend({ open, ...told }: LazyBackendOptions): InferenceBackend {
  let backend: InferenceBackend | null = null
  let isClosed = false
  function opened(): InferenceBackend {
    if (isClosed) throw new ApiError('server_draining')
    backend ??= open()
    return backend
  }
  return {
    ...told,
    async *complete(call, options) {
      yield* opened().complete(call, options)
    },
    async *serve(call, options) {
      const { serve } = opened()
      if (serve === undefined) throw new ApiError('internal_error')
      yield* serve(call, options)
    },
    async close() {
      isClosed = true
      await backend?.close()
    },
  }
}

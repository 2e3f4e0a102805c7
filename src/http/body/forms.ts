/** Bodies that are `multipart/form-data`: their limits and their errors. */
import multipart from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { App } from '../app-type.ts'
import { refuseEncoding } from './content-encoding.ts'
import { requireDeclaredBytes } from './declared-bytes.ts'

interface FormLimits {
  readonly filesMax: number
  readonly fileBytesMax: number
  readonly fieldsMax: number
  readonly fieldBytesMax: number
  /** Checks the length that the client declares; the reader counts the bytes that arrive. */
  readonly bodyBytesMax: number
}

const FORM_ERRORS: Readonly<Record<string, 'request_too_large' | 'client_closed_request'>> = {
  FST_REQ_FILE_TOO_LARGE: 'request_too_large',
  FST_FIELDS_LIMIT: 'request_too_large',
  FST_FILES_LIMIT: 'request_too_large',
  FST_PARTS_LIMIT: 'request_too_large',
  FST_MP_PREMATURE_CLOSE: 'client_closed_request',
}

/** Makes forms the only bodies of a scope; other media types end as unsupported_media_type. */
export async function useForms(app: App, limits: FormLimits): Promise<void> {
  const { filesMax, fileBytesMax, fieldsMax, fieldBytesMax, bodyBytesMax } = limits
  app.removeAllContentTypeParsers()
  await app.register(multipart, {
    limits: {
      files: filesMax,
      fileSize: fileBytesMax,
      fields: fieldsMax,
      fieldSize: fieldBytesMax,
      parts: fieldsMax + filesMax,
    },
  })
  app.addContentTypeParser('*', (_request, _body, done) => {
    const message = 'Send the body as multipart/form-data.'
    done(new ApiError('unsupported_media_type', { message }), undefined)
  })
  app.addHook('onRequest', async ({ headers }: FastifyRequest) => {
    requireDeclaredBytes(headers, bodyBytesMax)
    const encoding = headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity') throw refuseEncoding('identity')
  })
}

/** Returns the name of a part; the parser also accepts parts without one. @throws ApiError invalid_multipart */
export function nameOf({ fieldname }: { readonly fieldname: string | undefined }): string {
  if (fieldname !== undefined) return fieldname
  throw new ApiError('invalid_multipart', { message: 'A part of the form has no name.' })
}

/** Returns the error for a form that cannot be read. */
export function toFormError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const code = FORM_ERRORS[(error as { code?: string } | null)?.code ?? '']
  return new ApiError(code ?? 'invalid_multipart', { cause: error })
}

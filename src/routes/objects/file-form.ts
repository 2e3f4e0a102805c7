/**
 * Reads the form of a file upload: its fields, and its bytes, which are streamed into the store. Nothing is stored of
 * an invalid form.
 */
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { nameOf, toFormError, useForms } from '../../http/body/forms.ts'
import type { FileStore, ReceivedFile } from '../../store/api/objects/tables.ts'

/** Limits of the form besides the file: clients send one or two short fields. */
const FIELDS_MAX = 8
const FIELD_BYTES_MAX = 4096
/** Bytes of a form that do not belong to the file. */
const FORM_BYTES_MAX = 65_536

interface FileForm {
  /** Values of the fields by name; the last one if a name occurs twice. */
  readonly fields: Readonly<Record<string, string>>
  /** The received file, which the caller stores or discards. */
  readonly file: ReceivedFile
}

/** Makes forms with one file the only bodies of a scope. */
export async function useFileForms(app: App, fileBytesMax: number): Promise<void> {
  await useForms(app, {
    filesMax: 1,
    fileBytesMax,
    fieldsMax: FIELDS_MAX,
    fieldBytesMax: FIELD_BYTES_MAX,
    bodyBytesMax: fileBytesMax + FORM_BYTES_MAX,
  })
}

/**
 * Reads a form to its end. The field of the file is called `file`.
 *
 * @throws ApiError unsupported_media_type, invalid_multipart, request_too_large, validation_failed without a
 * file, client_closed_request, store_unavailable
 */
export async function readFileForm(request: FastifyRequest, files: FileStore): Promise<FileForm> {
  if (!request.isMultipart()) throw new ApiError('unsupported_media_type')
  const fields: Record<string, string> = {}
  let file: ReceivedFile | null = null
  try {
    for await (const part of request.parts()) {
      const name = nameOf(part)
      if (part.type === 'file') {
        if (name !== 'file') throw wrongField(name)
        file = await receivePart(part, files)
      } else {
        if (part.valueTruncated) throw new ApiError('request_too_large', { param: name })
        fields[name] = String(part.value)
      }
    }
  } catch (error) {
    await file?.discard()
    throw toFormError(error)
  }
  if (file === null) throw wrongField('file')
  return { fields, file }
}

async function receivePart(part: MultipartFile, files: FileStore): Promise<ReceivedFile> {
  const received = await files.receiveFile(part.file)
  if (!part.file.truncated) return received
  await received.discard()
  throw new ApiError('request_too_large', { param: 'file' })
}

function wrongField(name: string): ApiError {
  const message = name === 'file' ? 'file is required' : 'The file must come in the field file.'
  return new ApiError('validation_failed', { message, param: 'file' })
}

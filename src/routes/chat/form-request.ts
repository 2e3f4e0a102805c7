/** Requests to models as forms: their validated fields, and their files, held in memory within a limit. */
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { ApiError, bodyTooLarge } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { nameOf, toFormError, useForms } from '../../http/body/forms.ts'
import { SchemaError } from '../../http/body/parsing.ts'
import type { FormPart } from '../../inference/backend.ts'

/** Limits of a form besides its total bytes. */
const FILES_MAX = 20
const FIELDS_MAX = 100
const FIELD_BYTES_MAX = 4 * 1024 * 1024

/** Makes forms the only bodies of a scope. */
export function useModelForms(app: App, bodyBytesMax: number): Promise<void> {
  const limits = { filesMax: FILES_MAX, fieldsMax: FIELDS_MAX, fieldBytesMax: FIELD_BYTES_MAX }
  return useForms(app, { ...limits, fileBytesMax: bodyBytesMax, bodyBytesMax })
}

interface ModelForm<Fields> {
  readonly fields: Fields
  readonly parts: readonly FormPart[]
  /** The recorded part, as JSON text: fields, and sizes of files. */
  readonly summary: string
}

/**
 * Reads a form to its end.
 *
 * @param fileName - of a required file
 * @throws ApiError unsupported_media_type, invalid_multipart, request_too_large, client_closed_request,
 * missing_required_parameter; SchemaError
 */
export async function readModelForm<Fields>(
  request: FastifyRequest,
  schema: z.ZodType<Fields>,
  { fileName, bodyBytesMax }: { readonly fileName: string; readonly bodyBytesMax: number },
): Promise<ModelForm<Fields>> {
  if (!request.isMultipart()) throw new ApiError('unsupported_media_type')
  const parts = await readParts(request, bodyBytesMax)
  const given = toFields(parts)
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw new SchemaError(parsed.error, given)
  const isGiven = parts.some((part) => 'bytes' in part && isNamed(part.name, fileName))
  if (!isGiven) {
    const message = `${fileName} is required: a file of the form.`
    throw new ApiError('missing_required_parameter', { param: fileName, message })
  }
  const files = parts.flatMap((part) =>
    'bytes' in part
      ? [{ field: part.name, filename: part.filename, bytes: part.bytes.length }]
      : [],
  )
  return { fields: parsed.data, parts, summary: JSON.stringify({ ...given, files }) }
}

/** Some clients append brackets to the name of a list of files. */
function isNamed(name: string, wanted: string): boolean {
  return name === wanted || name === `${wanted}[]`
}

async function readParts(request: FastifyRequest, bytesMax: number): Promise<FormPart[]> {
  const parts: FormPart[] = []
  let left = bytesMax
  try {
    for await (const part of request.parts()) {
      const name = nameOf(part)
      if (part.type === 'file') {
        const bytes = await readFile(part, left)
        if (bytes === null) throw bodyTooLarge(bytesMax)
        left -= bytes.length
        parts.push({ name, filename: part.filename ?? name, contentType: typeOf(part), bytes })
      } else {
        if (part.valueTruncated) throw new ApiError('request_too_large', { param: name })
        const value = typeof part.value === 'string' ? part.value : JSON.stringify(part.value)
        left -= Buffer.byteLength(value)
        if (left < 0) throw bodyTooLarge(bytesMax)
        parts.push({ name, value })
      }
    }
  } catch (error) {
    throw toFormError(error)
  }
  return parts
}

/** Returns null for a file with more bytes. */
async function readFile({ file }: MultipartFile, bytesMax: number): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  let byteCount = 0
  for await (const piece of file) {
    byteCount += piece.length
    if (byteCount > bytesMax) return null
    pieces.push(piece)
  }
  return file.truncated ? null : Buffer.concat(pieces)
}

function typeOf({ mimetype }: MultipartFile): string {
  return /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(mimetype) ? mimetype : 'application/octet-stream'
}

/** Returns texts by name; a list for a name that ends with brackets, or occurs more than once. */
function toFields(parts: readonly FormPart[]): Record<string, string | string[]> {
  const values = new Map<string, string[]>()
  for (const part of parts) {
    if ('bytes' in part) continue
    values.set(part.name, [...(values.get(part.name) ?? []), part.value])
  }
  const entries = [...values].map(([name, all]) => {
    const isList = all.length > 1 || name.endsWith('[]')
    return [name, isList ? all : all[0]]
  })
  return Object.fromEntries(entries)
}

/**
 * Requests to models with files, or for audio, all additions to the spec. They are only relayed to engines whose models
 * offer them, and refused by name for others.
 */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { audioResponse, transcriptResponse } from '../../http/document/responses.ts'
import { ProjectHeaders } from '../../http/project-header.ts'
import { onceClosed } from '../../http/stream/client-signal.ts'
import type { FormPart, Service } from '../../inference/backend.ts'
import { createFileRecord } from '../../inference/chat/record/completion-record.ts'
import { type ServiceRequest, serveFile } from '../../inference/chat/service-run.ts'
import {
  formFile,
  SpeechRequest,
  TranscriptionForm,
  TranslationForm,
} from '../../schemas/chat/services/audio.ts'
import {
  ImageEditForm,
  ImageResponse,
  ImageVariationForm,
} from '../../schemas/chat/services/images.ts'
import { readModelForm, useModelForms } from './form-request.ts'
import { openResponse, toModelCaller } from './model-exchange.ts'
import type { ServiceRoutesOptions } from './services.ts'

interface FileServiceRoutesOptions extends ServiceRoutesOptions {
  readonly bodyBytesMax: number
}

interface FormEndpoint {
  readonly service: Service
  readonly path: string
  readonly operationId: string
  readonly summary: string
  /** Fields besides the files. */
  readonly fields: z.ZodObject
  /** Name of the required file, and its description. */
  readonly file: readonly [name: string, description: string]
  readonly answer: object
}

const FORMS: readonly FormEndpoint[] = [
  {
    service: 'transcriptions',
    path: '/v1/audio/transcriptions',
    operationId: 'createTranscription',
    summary: 'Transcribe audio with a model of an engine (addition to the spec).',
    fields: TranscriptionForm,
    file: ['file', 'What is said.'],
    answer: transcriptResponse(),
  },
  {
    service: 'translations',
    path: '/v1/audio/translations',
    operationId: 'createTranslation',
    summary: 'Translate audio to English text with a model of an engine (addition to the spec).',
    fields: TranslationForm,
    file: ['file', 'What is said.'],
    answer: transcriptResponse(),
  },
  {
    service: 'image_edits',
    path: '/v1/images/edits',
    operationId: 'editImage',
    summary: 'Edit images with a model of an engine (addition to the spec).',
    fields: ImageEditForm,
    file: ['image', 'The image; several as `image[]`. A `mask` may come beside it.'],
    answer: ImageResponse,
  },
  {
    service: 'image_variations',
    path: '/v1/images/variations',
    operationId: 'varyImage',
    summary: 'Create variations of an image with a model of an engine (addition to the spec).',
    fields: ImageVariationForm,
    file: ['image', 'The image.'],
    answer: ImageResponse,
  },
]

export async function fileServiceRoutes(
  app: App,
  options: FileServiceRoutesOptions,
): Promise<void> {
  addSpeech(app, options)
  await app.register(async (forms: App) => {
    await useModelForms(forms, options.bodyBytesMax)
    for (const endpoint of FORMS) addForm(forms, endpoint, options)
  })
}

function addSpeech(app: App, options: FileServiceRoutesOptions): void {
  app.post(
    '/v1/audio/speech',
    {
      config: { invalidBody: 'openai_400', body: 'text' },
      schema: {
        tags: ['inference'],
        operationId: 'createSpeech',
        summary: 'Generate speech from text with a model of an engine (addition to the spec).',
        body: SpeechRequest,
        shown: { headers: ProjectHeaders, response: { 200: audioResponse() } },
      },
    },
    async (request, reply) => {
      const body = request.bodyText ?? ''
      const { model, user } = request.body
      const asked = { service: 'speech' as const, asked: { model, user }, body }
      return await relay({ request, reply }, { ...asked, shape: SpeechRequest.shape }, options)
    },
  )
}

function addForm(app: App, endpoint: FormEndpoint, options: FileServiceRoutesOptions): void {
  const { service, path, operationId, summary, fields: schema, file, answer } = endpoint
  const [fileName, description] = file
  app.post(
    path,
    {
      config: { invalidBody: 'openai_400' },
      schema: {
        tags: ['inference'],
        operationId,
        summary,
        consumes: ['multipart/form-data'],
        shown: {
          headers: ProjectHeaders,
          body: z.looseObject({ ...schema.shape, [fileName]: formFile(description) }),
          response: { 200: answer },
        },
      },
    },
    async (request, reply) => {
      const limits = { fileName, bodyBytesMax: options.bodyBytesMax }
      const { fields, parts, summary: body } = await readModelForm(request, schema, limits)
      const { model, user, stream } = fields as Record<string, string | undefined>
      if (service === 'image_edits' && stream === 'true') {
        const message = 'stream is not supported for images, which are returned whole.'
        throw new ApiError('unsupported_parameter', { param: 'stream', message })
      }
      const asked = { service, asked: { model, user }, body, form: parts, shape: schema.shape }
      return await relay({ request, reply }, asked, options)
    },
  )
}

interface FileRequest {
  readonly service: Service
  readonly asked: Pick<ServiceRequest, 'model' | 'user'>
  /** JSON text, or the recorded part of a form. */
  readonly body: string
  readonly form?: readonly FormPart[]
  readonly shape: object
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** The status waits for the beginning of the answer; a later failure closes the connection. */
async function relay(
  { request, reply }: Exchange,
  { service, asked, body, form, shape }: FileRequest,
  { choice, run }: ServiceRoutesOptions,
): Promise<FastifyReply> {
  const modelCaller = toModelCaller(request)
  const model = await choice.choose(asked.model, modelCaller)
  const { deadline, client } = openResponse(request, reply)
  const record = createFileRecord()
  const deltas = serveFile(
    {
      ...modelCaller,
      ...client,
      kind: { service, shape },
      call: { request: asked, body, requestId: request.id, ...(form ? { form } : {}) },
      model,
      recordAs: { opName: service, body, output: record.output },
    },
    run,
    record,
  )
  const { contentType, pieces, close } = await deltas.finally(() => deadline?.lift())
  onceClosed(reply.raw, close)
  return reply
    .header('content-type', contentType)
    .send(Readable.from(pieces, { objectMode: false }))
}

/** Makes embeddings with a model of the AI SDK, in as many requests as the package's limit needs. */
import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import { ApiError, refuse } from '../../errors.ts'
import type { ServiceCallOf } from '../backend.ts'

type EmbeddingCall = ServiceCallOf<'embeddings'>

/** Runs one request. */
type Run = (
  options: Parameters<EmbeddingModelV4['doEmbed']>[0],
) => Promise<Awaited<ReturnType<EmbeddingModelV4['doEmbed']>>>

/**
 * Returns the response.
 *
 * @throws ApiError unsupported_value for tokens in place of texts, upstream_invalid_response
 */
export async function embed(
  { request, answersAs }: EmbeddingCall,
  { maxEmbeddingsPerCall }: EmbeddingModelV4,
  run: Run,
): Promise<Readonly<Record<string, unknown>>> {
  const texts = listTexts(request.input)
  const size = Math.max(1, (await maxEmbeddingsPerCall) ?? texts.length)
  const vectors: number[][] = []
  let tokens: number | null = 0
  for (let start = 0; start < texts.length; start += size) {
    const values = texts.slice(start, start + size)
    const { dimensions } = request
    const result = await run({ values, ...(dimensions ? { dimensions } : {}) })
    if (result.embeddings.length !== values.length) throw new ApiError('upstream_invalid_response')
    vectors.push(...result.embeddings)
    const used = result.usage?.tokens
    tokens = tokens === null || !Number.isFinite(used) ? null : tokens + (used ?? 0)
  }
  const isBase64 = request.encoding_format === 'base64'
  const data = vectors.map((vector, index) => {
    return { object: 'embedding', index, embedding: isBase64 ? toBase64(vector) : vector }
  })
  const usage = tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }
  return { object: 'list', data, model: answersAs, ...usage }
}

function listTexts(input: EmbeddingCall['request']['input']): string[] {
  const list: readonly unknown[] = Array.isArray(input) ? input : [input]
  if (list.every((text) => typeof text === 'string')) return [...list]
  refuse('unsupported_value', 'input', 'input must be texts: the model takes no tokens.')
}

function toBase64(vector: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4))
  for (const [index, value] of vector.entries()) view.setFloat32(index * 4, value, true)
  return Buffer.from(view.buffer).toString('base64')
}

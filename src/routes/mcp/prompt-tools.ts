/** What the tools of the Model Context Protocol do with prompts. */
import type { z } from 'zod'
import { isObject } from '../../domain/json/is-object.ts'
import { parseExact, renderJson } from '../../domain/json/json-text.ts'
import { objectOrEmpty } from '../../domain/json/json-values.ts'
import { cutJson } from '../../domain/mcp/tool-text.ts'
import { requireObject } from '../../domain/objects/object-view.ts'
import { ApiError } from '../../errors.ts'
import { parseItem } from '../../http/body/parsing.ts'
import { CompletionCreateRequest } from '../../schemas/chat/completion-create.ts'
import type { ReadPromptArguments, RunPromptArguments } from '../../schemas/mcp/tool-arguments.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { ReadOptions } from './tool-reads.ts'

/** Completes a chat for the caller. @returns the JSON text of a CompletionCreateResponse */
export type Complete = (body: CompletionCreateRequest) => Promise<string>

/** @throws ApiError object_not_found, also for an object that is no prompt */
export async function readPrompt(
  { project_id, object_id, version: name, body_chars }: z.infer<typeof ReadPromptArguments>,
  { objects, refScheme }: ReadOptions,
): Promise<string> {
  const version = requireObject(await objects.findObject(project_id, object_id, name))
  const { digest, version_index, base_object_class, is_latest } = version
  if (base_object_class !== 'Prompt') throw new ApiError('object_not_found', { param: 'object_id' })
  const aliases: unknown[] = JSON.parse(version.aliases_json)
  return renderJson({
    object_id,
    version_index,
    created_at: renderTimestamp(version.created_at_us),
    ref: `${refScheme}:///${project_id}/object/${object_id}:${digest}`,
    aliases: is_latest === 1 ? ['latest', ...aliases] : aliases,
    tags: JSON.parse(version.tags_json),
    val: cutJson(await objects.findContent(project_id, digest), body_chars),
  })
}

/** Runs a prompt as a completion that is recorded in its project. @throws ApiError as /completions/create does */
export async function runPrompt(
  { project_id, object_id, version, body_chars, ...sent }: RunPromptArguments,
  { refScheme }: Pick<ReadOptions, 'refScheme'>,
  complete: Complete,
): Promise<string> {
  const { model, template_vars, text, max_tokens } = sent
  const inputs = {
    prompt: `${refScheme}:///${project_id}/object/${object_id}:${version}`,
    max_tokens,
    ...(model === undefined ? {} : { model }),
    ...(template_vars === undefined ? {} : { template_vars }),
    ...(text === undefined ? {} : { messages: [{ role: 'user', content: text }] }),
  }
  const body = parseItem(CompletionCreateRequest, { project_id, inputs, source: 'mcp' }, true)
  const { response, weave_call_id, trace_id } = objectOrEmpty(parseExact(await complete(body)))
  const { model: answeredBy, choices, usage } = objectOrEmpty(response)
  const [choice] = Array.isArray(choices) ? choices.filter(isObject) : []
  return renderJson({
    call_id: weave_call_id,
    trace_id,
    model: answeredBy,
    message: cutJson(renderJson(choice?.message), body_chars),
    finish_reason: choice?.finish_reason,
    usage,
  })
}

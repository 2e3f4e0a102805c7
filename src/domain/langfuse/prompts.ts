/**
 * Prompts of Langfuse's API as objects. Pure.
 *
 * Spec: §2.1 (what contents hold is not shown). Choice: the classes of the Weave SDKs, so that both read them; labels are
 * aliases, and the versions count from 1.
 */
import { ApiError } from '../../errors.ts'
import type {
  PromptCreateRequest,
  PromptQuery,
  PromptsQuery,
} from '../../schemas/langfuse/prompt.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { renderTimestamp, timestampUs } from '../../schemas/timestamp.ts'
import { textOrNull } from '../json/json-values.ts'
import { sourceNameOf } from '../objects/object-kinds.ts'
import type { ObjectVersion } from '../objects/object-view.ts'

export const PROMPT_CLASS = 'Prompt'
const LABEL_DEFAULT = 'production'

/**
 * The content of a version. The time makes it differ from those before it, as each creation is a version.
 *
 * @throws ApiError validation_failed when the prompt is none of the type
 */
export function promptContent(request: PromptCreateRequest, nowUs: number): object {
  const { name, prompt, config, commitMessage } = request
  const isChat = Array.isArray(prompt)
  if (request.type && (request.type === 'chat') !== isChat) {
    const message = 'prompt must be a text for type text, and a list of messages for type chat.'
    throw new ApiError('validation_failed', { param: 'prompt', message })
  }
  const _class_name = isChat ? 'MessagesPrompt' : 'StringPrompt'
  return {
    _type: _class_name,
    _class_name,
    _bases: [PROMPT_CLASS, 'Object', 'BaseModel'],
    name,
    description: commitMessage ?? null,
    ...(isChat ? { messages: prompt } : { content: prompt }),
    config: config ?? {},
    created_at: renderTimestamp(nowUs),
  }
}

/** The name of a version that a request asks for, as findObject takes it. */
export function promptVersionName({ version, label }: PromptQuery): string {
  return version === undefined ? (label ?? LABEL_DEFAULT) : `v${version - 1}`
}

function labelsOf({ is_latest, aliases_json }: ObjectVersion): string[] {
  return [...(JSON.parse(aliases_json) as string[]), ...(is_latest === 1 ? ['latest'] : [])]
}

export function tagsOf({ tags_json }: Pick<ObjectVersion, 'tags_json'>): string[] {
  return JSON.parse(tags_json) as string[]
}

/** A version as the SDKs read it, also one that another SDK has published. */
export function renderPrompt(version: ObjectVersion, val: JsonObject) {
  const { version_index, created_at_us, svc_user_id, project_id, digest } = version
  const at = renderTimestamp(created_at_us)
  return {
    id: digest,
    projectId: project_id,
    createdAt: at,
    updatedAt: at,
    createdBy: svc_user_id,
    name: sourceNameOf(version, val),
    version: version_index + 1,
    ...promptOf(val),
    config: val.config ?? {},
    labels: labelsOf(version),
    tags: tagsOf(version),
    commitMessage: textOrNull(val.description),
    resolutionGraph: null,
  }
}

function promptOf({ messages, content }: JsonObject) {
  return Array.isArray(messages)
    ? { type: 'chat', prompt: messages }
    : { type: 'text', prompt: textOrNull(content) ?? '' }
}

/** All versions of a prompt, the oldest first. */
export interface PromptVersions {
  readonly latest: ObjectVersion
  readonly versions: readonly ObjectVersion[]
}

/** Groups versions by their prompt, the prompt that changed last first. */
export function groupPrompts(versions: readonly ObjectVersion[]): PromptVersions[] {
  const groups = Map.groupBy(versions, ({ object_id }) => object_id)
  return [...groups.values()]
    .flatMap((of) => {
      const latest = of.find(({ is_latest }) => is_latest === 1)
      return latest === undefined ? [] : [{ versions: of, latest }]
    })
    .sort((left, right) => right.latest.created_at_us - left.latest.created_at_us)
}

export function isWantedPrompt({ versions, latest }: PromptVersions, asked: PromptsQuery): boolean {
  const { label, tag, fromUpdatedAt, toUpdatedAt } = asked
  const atUs = latest.created_at_us
  return (
    (label === undefined || versions.some((version) => labelsOf(version).includes(label))) &&
    (tag === undefined || tagsOf(latest).includes(tag)) &&
    (fromUpdatedAt === undefined || atUs >= timestampUs(fromUpdatedAt)) &&
    (toUpdatedAt === undefined || atUs < timestampUs(toUpdatedAt))
  )
}

export function renderPromptMeta({ versions, latest }: PromptVersions, val: JsonObject) {
  return {
    name: sourceNameOf(latest, val),
    type: promptOf(val).type,
    versions: versions.map(({ version_index }) => version_index + 1),
    labels: [...new Set(versions.flatMap(labelsOf))],
    tags: tagsOf(latest),
    lastUpdatedAt: renderTimestamp(latest.created_at_us),
    lastConfig: val.config ?? {},
  }
}

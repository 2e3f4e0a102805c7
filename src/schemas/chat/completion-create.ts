/** Schema of `POST /completions/create` and its stream: a chat inside the envelope that tracing SDKs send. */

import { z } from 'zod'
import {
  boundedList,
  boundedMap,
  boundedText,
  flag,
  optionalField,
  ruleError,
} from '../bounded-fields.ts'
import { ClientId, nameOf, ProjectId, refused } from '../primitives.ts'
import { MESSAGES_MAX } from './chat-request.ts'
import { ChatCompletionResponse } from './chat-response.ts'
import { MODEL_CHARS_MAX } from './input-fields.ts'

type Refused = ReturnType<typeof refused>

function refuseAll<const Name extends string>(what: string, names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, refused(what)])) as Record<Name, Refused>
}

/**
 * Spec: §4.3 (other addresses of a completion are not shown). Choice: refused under the names of LiteLLM and of
 * OpenAI's Python client. With the JavaScript names in addition, generated clients would have each property twice.
 * All other unknown fields go to the upstream and into the recorded call, where a credential must not be.
 */
const REFUSED_INPUTS = {
  ...refuseAll('upstreams get the keys that the models file names', [
    'api_key',
    'token',
    'organization',
    'aws_access_key_id',
    'aws_secret_access_key',
    'aws_session_token',
    'aws_session_name',
    'aws_profile_name',
    'aws_role_name',
    'aws_external_id',
    'aws_web_identity_token',
    'azure_ad_token',
    'azure_ad_token_provider',
    'azure_username',
    'azure_password',
    'client_secret',
    'vertex_credentials',
    'vertex_ai_credentials',
    'watsonx_token',
    'hf_token',
  ]),
  ...refuseAll('upstreams get no headers of clients', [
    'headers',
    'extra_headers',
    'default_headers',
  ]),
  ...refuseAll('upstreams are described by the models file', [
    'api_base',
    'base_url',
    'api_type',
    'api_version',
    'extra_query',
    'default_query',
    'custom_llm_provider',
    'deployment_id',
    'azure_endpoint',
    'azure_deployment',
    'azure_scope',
    'tenant_id',
    'aws_region_name',
    'aws_bedrock_runtime_endpoint',
    'aws_sts_endpoint',
    'vertex_project',
    'vertex_location',
    'vertex_ai_project',
    'vertex_ai_location',
    'region_name',
  ]),
  timeout: refused('the models file has the times of each upstream'),
}

const REF_CHARS_MAX = 2_048
const VARIABLES_MAX = 1_000
const SOURCE_CHARS_MAX = 128
const NAME_CHARS_MAX = 1_024

const Inputs = z
  .looseObject(
    {
      model: optionalField(
        boundedText({ min: 1, max: MODEL_CHARS_MAX }),
        'Id or alias of the model; the default model when absent.',
      ),
      messages: optionalField(
        boundedList(z.unknown(), { max: MESSAGES_MAX }),
        'The conversation so far, as of a chat; may be left out with `prompt`.',
      ),
      prompt: optionalField(
        boundedText({ min: 1, max: REF_CHARS_MAX }),
        'Ref of a published object with `messages`, which go before those of the request; needs traces:read. The recorded call names the version.',
      ),
      template_vars: optionalField(
        boundedMap(z.unknown(), { max: VARIABLES_MAX }),
        'Values for `{name}` in the texts of all messages; `{{` and `}}` are braces then. Names without a value stay.',
      ),
      stream: optionalField(flag(), 'Not looked at: the address says it.'),
      ...REFUSED_INPUTS,
    },
    ruleError('a JSON object'),
  )
  .meta({
    description:
      'A chat request: these fields, and all others of ChatCompletionRequest. What says how to reach an upstream is refused.',
  })

/**
 * Body of both addresses.
 *
 * Spec: §4.3 (other addresses of a completion are not shown). Choice: the shape that tracing SDKs send.
 */
export const CompletionCreateRequest = z
  .strictObject({
    project_id: ProjectId,
    inputs: Inputs,
    track_llm_call: optionalField(flag(), 'Whether the completion is recorded as a call.', true),
    trace_id: optionalField(ClientId, 'Trace that the call belongs to; a new one when absent.'),
    parent_id: optionalField(ClientId, 'Call that the call lies under.'),
    conversation_id: optionalField(ClientId, 'Conversation; the `thread_id` of the call.'),
    conversation_name: optionalField(nameOf(NAME_CHARS_MAX), 'Kept among the attributes.'),
    source: optionalField(nameOf(SOURCE_CHARS_MAX), 'Who asks, kept among the attributes.'),
    svc_user_id: optionalField(z.string(), 'Not looked at: the key says who asks.'),
    inference_route: refused('models are served by the upstreams of the models file'),
  })
  .meta({
    id: 'CompletionCreateRequest',
    description: 'A chat to complete, and the project to record it in.',
  })

const CompletionContext = {
  weave_call_id: z
    .string()
    .nullable()
    .describe('Id of the recorded call; null when none was recorded.'),
  trace_id: z.string().nullable().describe('Its trace; null when none was recorded.'),
  conversation_id: z.string().nullable().describe('Conversation named by the request, or null.'),
}

export const CompletionCreateResponse = z
  .object({ response: ChatCompletionResponse, ...CompletionContext })
  .meta({ id: 'CompletionCreateResponse', description: 'A completion and its recorded call.' })

export type CompletionCreateRequest = z.infer<typeof CompletionCreateRequest>

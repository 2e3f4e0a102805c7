/** Fields by which SDKs configure an upstream per request. In Weft only the models file configures upstreams. */
import { refused } from '../primitives.ts'

type Refused = ReturnType<typeof refused>

function refuseAll<const Name extends string>(what: string, names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, refused(what)])) as Record<Name, Refused>
}

/**
 * Spec: §4.3 (other addresses of a completion are not shown). Choice: refused under the names of LiteLLM and of
 * OpenAI's Python client. With the JavaScript names in addition, generated clients would have each property twice.
 * All other unknown fields go to the upstream and into the recorded call, where a credential must not be.
 */
export const REFUSED_INPUTS = {
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

/** Versions, which tracing SDKs request first. No credentials, no secrets. Additions to the spec. */
import { z } from 'zod'
import type { App } from '../../http/app-type.ts'

interface ServerInfoRoutesOptions {
  /** Version of this server. */
  readonly version: string
}

/** Any client may connect: fields that this server does not know are dropped. */
const CLIENT_VERSION_MIN = '0.0.1'

const ServerInfo = z.object({
  min_required_weave_python_version: z
    .string()
    .describe('The oldest client version that is supported.'),
  trace_server_version: z.string().describe('Version of this server.'),
})
const Version = z.object({ version: z.string().describe('Version of this server.') })

/** Only below /traces: an SDK configured without that fails here, before it loses calls. */
export async function serverInfoRoutes(
  app: App,
  { version }: ServerInfoRoutesOptions,
): Promise<void> {
  app.get(
    '/server_info',
    { schema: schemaOf('getServerInfo', 'Versions, for tracing SDKs.', ServerInfo) },
    async () => ({
      min_required_weave_python_version: CLIENT_VERSION_MIN,
      trace_server_version: version,
    }),
  )
}

export async function versionRoutes(app: App, { version }: ServerInfoRoutesOptions): Promise<void> {
  app.get(
    '/version',
    { schema: schemaOf('getVersion', 'Version of the server.', Version) },
    async () => ({ version }),
  )
}

function schemaOf(operationId: string, summary: string, body: z.ZodType) {
  return { tags: ['server'], operationId, summary, security: [], response: { 200: body } }
}

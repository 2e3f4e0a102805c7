/**
 * The Model Context Protocol over streamable HTTP, by which agents read a project and add feedback. Stateless: a request
 * has one JSON response, and there are no sessions or streams. An addition to the spec.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { QUERY_BODY_BYTES_MAX } from '../../http/body/json-body.ts'
import { isCrossOrigin } from '../../http/cross-origin.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  InitializeParams,
  McpAccepted,
  McpMessage,
  McpResponse,
  PROTOCOL_VERSIONS,
  ToolCallParams,
} from '../../schemas/mcp/messages.ts'
import { startWholeCompletion } from '../chat/completion-create.ts'
import type { Inference } from '../chat/inference.ts'
import { createTools, type ToolContext, type ToolOptions } from './tools.ts'

interface McpOptions extends ToolOptions {
  readonly inference: Inference
  readonly version: string
  readonly bodyBytesMax: number
}

/** Codes of JSON-RPC. */
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602
/** Limit: characters of a client's text that an error repeats. */
const QUOTED_CHARS_MAX = 64

type Outcome = Pick<McpResponse, 'result' | 'error'>
type Tools = ReturnType<typeof createTools>

const INSTRUCTIONS =
  'Weft records traced calls of language models by project, `<entity>/<project>`. Each tool takes a project_id. Bodies longer than body_chars are cut.'

export async function mcpRoutes(app: App, options: McpOptions): Promise<void> {
  const tools = createTools(options)

  function toContext(request: FastifyRequest, reply: FastifyReply): ToolContext {
    return {
      principal: request.principal,
      openReader: (project_id) => openReadCaller(request, reply, project_id),
      async complete(body) {
        const { whole, deadline } = await startWholeCompletion(options, request, reply, body)
        return deadline === null ? whole : whole.finally(deadline.lift)
      },
    }
  }

  app.post(
    '/mcp',
    {
      bodyLimit: Math.min(QUERY_BODY_BYTES_MAX, options.bodyBytesMax),
      // The numbers of feedback are stored as they were sent.
      config: { body: 'exact' },
      schema: {
        tags: ['server'],
        operationId: 'exchangeMcpMessage',
        summary: 'Model Context Protocol: tools for agents (addition to the spec).',
        description:
          'Streamable HTTP without sessions. A notification gets 202 without a body, a request a JSON-RPC response.',
        body: McpMessage,
        response: { 200: McpResponse, 202: McpAccepted },
      },
    },
    async (request, reply) => {
      requireOwnOrigin(request)
      requireProtocolVersion(request)
      const { id, ...message } = request.body
      if (id === undefined) return reply.code(202).send(undefined)
      return { jsonrpc: '2.0' as const, id, ...(await respond(message)) }

      async function respond({ method, params = {} }: typeof message): Promise<Outcome> {
        if (method === 'ping') return { result: {} }
        if (method === 'initialize') return initialize(params, options.version)
        if (method === 'tools/list') {
          return { result: { tools: [...tools.values()].map(({ shown }) => shown) } }
        }
        if (method === 'tools/call') return callTool(params, tools, toContext(request, reply))
        const message = `There is no method ${quote(method)}; initialize, ping, tools/list and tools/call are supported.`
        return { error: { code: METHOD_NOT_FOUND, message } }
      }
    },
  )
}

/** Refuses pages of other origins, as the protocol demands. */
function requireOwnOrigin(request: FastifyRequest): void {
  if (!isCrossOrigin(request)) return
  const message = 'Pages of another origin cannot use this address.'
  throw new ApiError('cross_origin_request', { message })
}

/** @throws ApiError invalid_header for a version of the protocol that is not supported */
function requireProtocolVersion({ headers }: FastifyRequest): void {
  const named = headers['mcp-protocol-version']
  if (named === undefined || PROTOCOL_VERSIONS.includes(String(named))) return
  const message = `mcp-protocol-version must be one of ${PROTOCOL_VERSIONS.join(', ')}.`
  throw new ApiError('invalid_header', { param: 'mcp-protocol-version', message })
}

function initialize(params: unknown, version: string): Outcome {
  const { success, data } = InitializeParams.safeParse(params)
  if (!success) return invalidParams('initialize needs protocolVersion, a text.')
  const isKnown = PROTOCOL_VERSIONS.includes(data.protocolVersion)
  const result = {
    protocolVersion: isKnown ? data.protocolVersion : PROTOCOL_VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: 'weft', version },
    instructions: INSTRUCTIONS,
  }
  return { result }
}

/** A tool that fails has a result that says why, for the model to read. */
async function callTool(params: unknown, tools: Tools, context: ToolContext): Promise<Outcome> {
  const { success, data } = ToolCallParams.safeParse(params)
  if (!success) return invalidParams('tools/call needs name, a text, and arguments, an object.')
  const tool = tools.get(data.name)
  if (tool === undefined) {
    const names = [...tools.keys()].join(', ')
    return invalidParams(`There is no tool ${quote(data.name)}; there are ${names}.`)
  }
  try {
    return toResult(await tool.run(data.arguments ?? {}, context), false)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, param } = error
    return toResult(`${code}${param === null ? '' : ` (${param})`}: ${message}`, true)
  }
}

function toResult(text: string, isError: boolean): Outcome {
  return { result: { content: [{ type: 'text', text }], isError } }
}

function invalidParams(message: string): Outcome {
  return { error: { code: INVALID_PARAMS, message } }
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, QUOTED_CHARS_MAX))
}

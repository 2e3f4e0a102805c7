/** JSON-RPC messages of the Model Context Protocol, an addition to the spec. */
import { z } from 'zod'
import { FreeObject } from '../primitives.ts'

/** Versions of the protocol that the server speaks, the newest first. */
export const PROTOCOL_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26']

const METHOD_CHARS_MAX = 128
const ID_CHARS_MAX = 256

const MessageId = z.union([z.string().max(ID_CHARS_MAX), z.int()], 'must be a text or an integer')

/** A request, or without an `id` a notification. */
export const McpMessage = z
  .strictObject({
    jsonrpc: z.literal('2.0').describe('Version of JSON-RPC.'),
    id: MessageId.optional().describe('Id of the request; absent in notifications.'),
    method: z
      .string()
      .max(METHOD_CHARS_MAX)
      .describe('`initialize`, `ping`, `tools/list` or `tools/call`.'),
    params: FreeObject.optional().describe('Parameters of the method.'),
  })
  .meta({ id: 'McpMessage', description: 'A JSON-RPC request or notification.' })
export type McpMessage = z.infer<typeof McpMessage>

export const InitializeParams = z.object({ protocolVersion: z.string() })

export const ToolCallParams = z.object({
  name: z.string(),
  arguments: FreeObject.optional(),
})

export const McpResponse = z
  .object({
    jsonrpc: z.literal('2.0').describe('Version of JSON-RPC.'),
    id: MessageId.describe('Id of the request.'),
    result: FreeObject.optional().describe('The result; absent after an error.'),
    error: z
      .object({
        code: z.int().describe('Code of JSON-RPC.'),
        message: z.string().describe('What is wrong.'),
      })
      .optional()
      .describe('Why there is no result. Failures of tools are results with `isError`.'),
  })
  .meta({ id: 'McpResponse', description: 'The response to a JSON-RPC request.' })
export type McpResponse = z.infer<typeof McpResponse>

export const McpAccepted = z.undefined().meta({ description: 'The notification was received.' })

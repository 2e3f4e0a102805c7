/**
 * The tools of a response as the functions of a chat, which has no namespaces: a function in a namespace gets a name of
 * both, and its calls get their own names back. Pure.
 */
import { refuse } from '../../../errors.ts'
import type { ResponseTool } from '../../../schemas/chat/responses/responses-input.ts'
import type { ResponseCreateRequest } from '../../../schemas/chat/responses/responses-request.ts'
import type { FunctionTool } from '../field-rules.ts'

/** Limit of engines: characters of a function's name. */
const NAME_CHARS_MAX = 64

/** A function as the client names it. */
interface CalledName {
  readonly name: string
  readonly namespace?: string
}

export interface ResponseTools {
  readonly functions: readonly FunctionTool[]
  /** Kinds of the tools that were left out. */
  readonly dropped: readonly string[]
  /** Returns the name of a function in the chat. */
  toChatName(called: { readonly name: string; readonly namespace?: unknown }): string
  /** Returns the name, and the namespace if it has one, of a function that the chat calls. */
  toCalledName(chatName: string): CalledName
}

/**
 * Converts the tools of a request.
 *
 * @param dropsOthers - whether tools that the server or the vendor runs are left out; if not, they are refused
 * @throws ApiError unsupported_value, missing_required_parameter
 *
 * Spec: §4 (responses are an addition).
 * Choice: namespaces are flattened for every model that has only chats. The description of a namespace stands before
 * that of its first function.
 */
export function readTools(
  { tools }: Pick<ResponseCreateRequest, 'tools'>,
  dropsOthers: boolean,
): ResponseTools {
  const functions: FunctionTool[] = []
  const dropped: string[] = []
  const names = nameFunctions(tools ?? [])

  function add(tool: ResponseTool, path: string, space: ResponseTool | null): void {
    if (tool.type === 'namespace' && space === null) {
      if (!tool.name) refuseMissing(`${path}.name`)
      for (const [at, inner] of (tool.tools ?? []).entries()) {
        add(inner, `${path}.tools[${at}]`, at === 0 ? tool : { ...tool, description: null })
      }
      return
    }
    if (tool.type !== 'function') {
      if (!dropsOthers) refuseTool(tool.type, path)
      dropped.push(`tools.${nameTool(tool.type)}`)
      return
    }
    if (!tool.name) refuseMissing(`${path}.name`)
    const name = names.toChatName({ name: tool.name, namespace: space?.name })
    functions.push(toFunction(tool, name, space?.description))
  }

  for (const [at, tool] of (tools ?? []).entries()) add(tool, `tools[${at}]`, null)
  return { functions, dropped: [...new Set(dropped)], ...names }
}

/** Assigns each function in a namespace a unique name. */
function nameFunctions(tools: readonly ResponseTool[]) {
  const taken = new Set(
    tools.flatMap(({ type, name }) => (type === 'function' && name ? name : [])),
  )
  const chatNames = new Map<string, string>()
  const calledNames = new Map<string, CalledName>()

  function toChatName(called: { readonly name: string; readonly namespace?: unknown }): string {
    const { name, namespace } = called
    if (typeof namespace !== 'string' || namespace === '') return name
    const key = JSON.stringify([namespace, name])
    const known = chatNames.get(key)
    if (known !== undefined) return known
    const joined = joinNames(namespace, name)
    let chatName = joined.slice(0, NAME_CHARS_MAX)
    for (let number = 2; taken.has(chatName); number++) {
      const ending = `_${number}`
      chatName = joined.slice(0, NAME_CHARS_MAX - ending.length) + ending
    }
    taken.add(chatName)
    chatNames.set(key, chatName)
    calledNames.set(chatName, { name, namespace })
    return chatName
  }

  for (const { type, name: namespace, tools: inner } of tools) {
    if (type !== 'namespace') continue
    for (const { name } of inner ?? []) if (name) toChatName({ name, namespace })
  }
  return {
    toChatName,
    toCalledName: (chatName: string) => calledNames.get(chatName) ?? { name: chatName },
  }
}

function joinNames(namespace: string, name: string): string {
  const joined = namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`
  return joined.replace(/[^A-Za-z0-9_-]/g, '_')
}

function toFunction(
  { name: _own, description, parameters, strict }: ResponseTool,
  name: string,
  about: string | null | undefined,
): FunctionTool {
  const told = [about, description].filter(Boolean).join('\n\n')
  return {
    type: 'function',
    function: {
      name,
      ...(told === '' ? {} : { description: told }),
      ...(parameters ? { parameters } : {}),
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  }
}

function refuseMissing(param: string): never {
  refuse('missing_required_parameter', param, `${param} is required`)
}

function refuseTool(type: string, path: string): never {
  const param = `${path}.type`
  const message = `${param} must be function: ${nameTool(type)} is only for models whose engine makes responses itself.`
  refuse('unsupported_value', param, message)
}

/** Tools of vendors; other text of a client is not repeated. */
const VENDOR_TOOLS =
  /^(?:web_search|file_search|code_interpreter|computer|image_generation|mcp|local_shell|shell|apply_patch|custom|namespace|tool_search)(?:_[a-z0-9_]{1,32})?$/

function nameTool(type: string): string {
  return VENDOR_TOOLS.test(type) ? type : 'another tool'
}

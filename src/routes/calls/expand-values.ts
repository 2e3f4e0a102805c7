/** Replaces the refs in expanded columns of calls by their values. */
import type { CallTexts } from '../../domain/calls/call-view.ts'
import type { CallsShape } from '../../domain/calls/calls-query.ts'
import { isObject } from '../../domain/json/is-object.ts'
import { parseLossless, renderJson } from '../../domain/json/json-text.ts'
import { parseReadableRef } from '../../domain/objects/readable-ref.ts'
import { isNotFound } from '../../errors.ts'
import { createRefReader, type RefReaderOptions } from '../objects/ref-reader.ts'

/** Limit: calls per reader, which caches what it has read. */
const CALLS_PER_READER = 1000

/** A call with values instead of refs. */
export type ExpandCall = (call: CallTexts) => Promise<CallTexts>

type Container = Record<string, unknown>

/**
 * @param columns - shorter ones first, so that refs inside an expanded value are expanded after it
 *
 * Spec: §2.7 (lists are an addition). Choice: as the vendor does, an object that replaces its ref keeps it as `_ref`.
 * A ref that is unknown, of another kind, or of a project that the caller may not use is left unchanged.
 */
export function createCallExpander(
  columns: readonly (readonly string[])[],
  shape: CallsShape,
  options: RefReaderOptions,
): ExpandCall {
  const isShown = (body: string) => shape.columns === null || shape.columns.has(body)
  const wanted = columns.filter(([body = '']) => isShown(body))
  let calls = 0
  let read = createRefReader(options)

  /** Returns the target of a ref; any other value unchanged. */
  async function valueBehind(value: unknown): Promise<unknown> {
    const ref = typeof value === 'string' ? parseReadableRef(value) : null
    if (ref === null || ref.target.kind !== 'object') return value
    try {
      const found = await read(ref)
      return isObject(found) && !JSON.isRawJSON(found)
        ? { ...found, _ref: value }
        : (found ?? value)
    } catch (error) {
      if (isNotFound(error)) return value
      throw error
    }
  }

  async function expandIn(holder: Container, [key = '', ...rest]: readonly string[]) {
    if (!Object.hasOwn(holder, key)) return
    const inner = holder[key]
    if (rest.length === 0) holder[key] = await valueBehind(inner)
    if (rest.length === 0 || !isContainer(inner)) return
    // A copy, because the reader caches the value.
    const copy = (Array.isArray(inner) ? [...inner] : { ...inner }) as Container
    holder[key] = copy
    await expandIn(copy, rest)
  }

  async function expandBody(body: string, json: string | null): Promise<string | null> {
    const paths = wanted.filter(([first]) => first === body)
    if (json === null || paths.length === 0) return json
    const holder: Container = { [body]: parseLossless(json) }
    for (const path of paths) {
      const whole = holder[body]
      if (path.length > 1 || !isContainer(whole)) await expandIn(holder, path)
      else for (const key of Object.keys(whole)) await expandIn(whole, [key])
    }
    return renderJson(holder[body])
  }

  return async (call) => {
    calls += 1
    if (calls % CALLS_PER_READER === 0) read = createRefReader(options)
    return {
      ...call,
      attributes_json: await expandBody('attributes', call.attributes_json),
      inputs_json: await expandBody('inputs', call.inputs_json),
      output_json: await expandBody('output', call.output_json),
    }
  }
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !JSON.isRawJSON(value)
}

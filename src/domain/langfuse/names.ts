/** Names of Langfuse's prompts and datasets as names of objects. Pure. */
import { createHash } from 'node:crypto'
import { toObjectId } from '../objects/object-kinds.ts'

const OBJECT_ID = /^[\p{L}\p{N}_.-]{1,128}$/u
const HASH_CHARS = 16

/** The name itself where it can name an object; otherwise one made of it that no other name shares. */
export function objectIdOf(name: string, fallback: string): string {
  if (OBJECT_ID.test(name)) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS)
  return toObjectId(name, fallback, `-${hash}`)
}

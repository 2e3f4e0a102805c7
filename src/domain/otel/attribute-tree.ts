/**
 * Converts dotted attribute keys to a tree: `llm.input_messages.0.message.role` becomes an array of objects. Pure. Keys
 * are untrusted, so indexes and depth are bounded and objects have no prototype.
 */
import { isObject } from '../json/is-object.ts'
import type { Attributes } from './span.ts'

/** Limit: items of an array that is rebuilt; keys behind it stay as they are, in the object's other members. */
const INDEX_MAX = 1_000
/** A part of a key that may be an index. */
const INDEX = /(?:^|\.)\d+(?:\.|$)/
/** Limit: parts of a key that are taken apart. */
const PARTS_MAX = 32

/** Objects without a prototype; arrays where all keys are indexes from 0 on. */
export type Tree = Record<string, unknown>

/**
 * The tree of all attributes. Where one key is the beginning of another (`a` and `a.b`), the longer one stays a key of
 * its own, undivided.
 */
export function growTree(attributes: Attributes): Tree {
  const grown: Grown = new Set()
  const tree = newTree(grown)
  const keys = Object.keys(attributes).sort((left, right) => left.length - right.length)
  for (const key of keys) {
    const parts = key.split('.')
    const value = copyMaps(attributes[key])
    if (parts.length > PARTS_MAX || parts.includes('') || !place(tree, parts, value, grown)) {
      tree[key] = value
    }
  }
  // Few spans have lists: without one there is nothing to fold.
  return keys.some((key) => INDEX.test(key)) ? (foldArrays(tree, grown) as Tree) : tree
}

/**
 * Returns the value at a dotted path of a dialect, or undefined.
 *
 * @param parts - of the path, where they are known
 */
export function findAt(
  tree: Tree,
  path: string,
  parts: readonly string[] = path.split('.'),
): unknown {
  if (path in tree) return tree[path]
  let node: unknown = tree
  for (const part of parts) {
    if (typeof node !== 'object' || node === null) return undefined
    node = (node as Tree)[part]
  }
  return node
}

/** Removes the value at a dotted path from the tree, with objects that become empty. */
export function removeAt(tree: Tree, path: string): void {
  if (path in tree) {
    delete tree[path]
    return
  }
  const parts = path.split('.')
  const last = parts.pop() as string
  const nodes: Tree[] = [tree]
  for (const part of parts) {
    const next = nodes.at(-1)?.[part]
    if (typeof next !== 'object' || next === null || Array.isArray(next)) return
    nodes.push(next as Tree)
  }
  delete nodes.at(-1)?.[last]
  for (let depth = nodes.length - 1; depth > 0; depth -= 1) {
    if (Object.keys(nodes[depth] as Tree).length > 0) return
    delete nodes[depth - 1]?.[parts[depth - 1] as string]
  }
}

/** The tree is taken apart; the maps of the span stay whole. */
function copyMaps(value: unknown): unknown {
  if (!isObject(value) || JSON.isRawJSON(value)) return value
  const copy: Tree = Object.create(null)
  for (const [key, inner] of Object.entries(value)) copy[key] = copyMaps(inner)
  return copy
}

/** The objects created for key prefixes; all others are attribute values. */
type Grown = Set<unknown>

function newTree(grown: Grown): Tree {
  const tree: Tree = Object.create(null)
  grown.add(tree)
  return tree
}

/** Whether there was room for the value at its place. */
function place(tree: Tree, parts: readonly string[], value: unknown, grown: Grown): boolean {
  let node = tree
  for (const part of parts.slice(0, -1)) {
    const next = node[part]
    if (next === undefined) {
      const made = newTree(grown)
      node[part] = made
      node = made
    } else if (grown.has(next)) node = next as Tree
    else return false
  }
  const last = parts.at(-1) as string
  if (node[last] !== undefined) return false
  node[last] = value
  return true
}

/** Converts objects with only index keys to arrays without holes; attribute values are left unchanged. */
function foldArrays(node: unknown, grown: Grown): unknown {
  if (!grown.has(node)) return node
  const tree = node as Tree
  const keys = Object.keys(tree)
  for (const key of keys) tree[key] = foldArrays(tree[key], grown)
  const isArray = keys.length > 0 && keys.every((key) => /^\d{1,4}$/.test(key) && +key < INDEX_MAX)
  if (!isArray) return tree
  return keys.sort((left, right) => +left - +right).map((key) => tree[key])
}

/** Reads JSON values that may be anything. Pure. */
import { isObject } from './is-object.ts'

/** A text, also an empty one; null for any other value. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** A text; an empty one for any other value. */
export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A text that is not empty; null for any other value. */
export function filledTextOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** An object; an empty one for any other value. */
export function objectOrEmpty(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

/** A whole number above 0; 0 for any other value. */
export function countOrZero(value: unknown): number {
  return typeof value === 'number' && value > 0 && Number.isSafeInteger(value) ? value : 0
}

/** Returns the object in a JSON text; null for any other text. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** Whether a value is there: neither null nor left out. */
export function isGiven<T>(value: T): value is NonNullable<T> {
  return value !== null && value !== undefined
}

/** Who is signed in. */
import { signal } from '@preact/signals'
import type { z } from 'zod'
import type { CallerResponse } from '../../schemas/projects/project.ts'
import { ApiFailure, ask, wordsOf } from './client.ts'
import { dropKey, keepKey, key } from './key.ts'

export type Caller = z.infer<typeof CallerResponse>

export const caller = signal<Caller | null>(null)

/** Signs in with the key that this tab has, if any. */
export async function openSession(): Promise<void> {
  if (key.value !== null) await readCaller()
}

/** Tries a key. @returns why it does not work, or null */
export async function signIn(secret: string): Promise<string | null> {
  keepKey(secret)
  return readCaller()
}

export function signOut(): void {
  caller.value = null
  dropKey()
}

async function readCaller(): Promise<string | null> {
  try {
    caller.value = await ask<Caller>('/me')
    return null
  } catch (error) {
    const words = wordsOf(error)
    if (error instanceof ApiFailure && error.status === 403) dropKey(words)
    return words
  }
}

/** Whether the key has a right. */
export function may(scope: string): boolean {
  const scopes = caller.value?.scopes ?? []
  return scopes.includes(scope) || scopes.includes('admin')
}

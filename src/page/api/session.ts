/** The signed-in user. */
import { signal } from '@preact/signals'
import type { z } from 'zod'
import type { SessionResponse, SignOutResponse } from '../../schemas/access/person.ts'
import type { CallerResponse } from '../../schemas/projects/project.ts'
import { ApiFailure, errorText, requestJson } from './client.ts'
import { dropKey, hasSession, isKeyText, keepKey, key, takeLinkedKey } from './key.ts'
import { joinTabs, leaveTabs } from './tabs.ts'

type Caller = z.infer<typeof CallerResponse>

export const caller = signal<Caller | null>(null)
/** Whether people can sign in at an identity provider. */
export const isSignInOffered = signal(false)
/** Why the signed-in user is not known yet. */
export const sessionFailure = signal<string | null>(null)

/** Signs in with the key stored in this tab or another one, if any, and with the key of each link followed later. */
export async function openSession(): Promise<void> {
  addEventListener('hashchange', () => {
    const linked = takeLinkedKey()
    if (linked !== null) void signIn(linked)
  })
  joinTabs((secret) => {
    if (!hasSession.value) void signIn(secret)
  })
  if (key.value === null) await readSession()
  await readCallerAgain()
}

/** A failure leaves the form for keys, whose request reports it. */
async function readSession(): Promise<void> {
  const found = await requestJson<z.infer<typeof SessionResponse>>('/auth/session').catch(
    () => null,
  )
  isSignInOffered.value = found?.sign_in ?? false
  if (key.value === null) hasSession.value = found !== null && found.person !== null
}

export async function readCallerAgain(): Promise<void> {
  if (key.value !== null || hasSession.value) await readCaller()
}

/** Tries a key. @returns the reason why it is rejected, or null */
export async function signIn(secret: string): Promise<string | null> {
  if (!isKeyText(secret)) return 'A key has letters, digits and signs, and no spaces.'
  caller.value = null
  keepKey(secret)
  return readCaller()
}

/** A person is signed out at the identity provider, too. */
export function signOut(): void {
  if (key.value === null && hasSession.value) {
    void requestJson<z.infer<typeof SignOutResponse>>('/auth/sign-out', {}).then(
      ({ redirect_url }) => location.assign(redirect_url ?? '/'),
      (error) => {
        sessionFailure.value = errorText(error)
      },
    )
    return
  }
  leaveTabs()
  caller.value = null
  dropKey()
}

async function readCaller(): Promise<string | null> {
  sessionFailure.value = null
  const secret = key.value
  if (secret !== null && !isKeyText(secret)) {
    dropKey('The link has no valid key.')
    return null
  }
  try {
    const found = await requestJson<Caller>('/me')
    if (key.value === secret) caller.value = found
    return null
  } catch (error) {
    if (key.value !== secret && key.value !== null) return null
    const words = errorText(error)
    sessionFailure.value = words
    if (error instanceof ApiFailure && error.status === 403) dropKey(words)
    return words
  }
}

/** Whether the key has a right. */
export function may(scope: string): boolean {
  const scopes = caller.value?.scopes ?? []
  return scopes.includes(scope) || scopes.includes('admin')
}

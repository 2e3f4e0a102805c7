/** The signed-in user. */
import { signal } from '@preact/signals'
import type { z } from 'zod'
import type { SessionResponse } from '../../schemas/access/password.ts'
import type { SignOutResponse } from '../../schemas/access/person.ts'
import type { CallerResponse } from '../../schemas/projects/project.ts'
import { ApiFailure, errorText, requestJson } from './client.ts'
import { dropKey, hasSession, isKeyText, keepKey, key, takeLinked } from './key.ts'
import { joinTabs, leaveTabs } from './tabs.ts'

type Caller = z.infer<typeof CallerResponse>
type Session = z.infer<typeof SessionResponse>

export const caller = signal<Caller | null>(null)
/** Whether people can sign in at an identity provider. */
export const isSignInOffered = signal(false)
/** Whether people can sign in with a password. */
export const isPasswordOffered = signal(false)
/** Whether the signed-in person has one. */
export const hasPassword = signal(false)
/** The secret of a link that sets a password; null: the page was opened without one. */
export const passwordLink = signal(takeLinked('password'))
/** Why the signed-in user is not known yet. */
export const sessionFailure = signal<string | null>(null)

/** Signs in with the key stored in this tab or another one, if any, and with the key of each link followed later. */
export async function openSession(): Promise<void> {
  addEventListener('hashchange', () => {
    const linked = takeLinked('key')
    if (linked !== null) void signIn(linked)
    const link = takeLinked('password')
    if (link !== null) passwordLink.value = link
  })
  joinTabs((secret) => {
    if (!hasSession.value) void signIn(secret)
  })
  if (key.value === null) await readSession()
  await readCallerAgain()
}

/** A failure leaves the form for keys, whose request reports it. */
async function readSession(): Promise<void> {
  const found = await requestJson<Session>('/auth/session').catch(() => null)
  isSignInOffered.value = found?.sign_in ?? false
  isPasswordOffered.value = found?.passwords ?? false
  if (key.value === null) noteSession(found)
}

function noteSession(found: Session | null): void {
  hasSession.value = found !== null && found.person !== null
  hasPassword.value = found?.person?.has_password ?? false
}

/** @throws ApiFailure */
export async function signInByPassword(email: string, password: string): Promise<void> {
  await beginSession('/auth/password', { email, password })
}

/** Sets a password by a link. The key of this tab, if any, is dropped. @throws ApiFailure */
export async function setPassword(secret: string, password: string): Promise<void> {
  await beginSession('/auth/password/set', { secret, password })
  passwordLink.value = null
}

/** @throws ApiFailure */
export async function changePassword(password: string, new_password: string): Promise<void> {
  await beginSession('/auth/password/change', { password, new_password })
}

async function beginSession(path: string, body: object): Promise<void> {
  const found = await requestJson<Session>(path, body)
  if (key.value !== null) dropKey()
  noteSession(found)
  await readCaller()
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

/** Asks for an API key, a password, or to sign in at an identity provider. */
import { html } from 'htm/preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { signedOutBecause } from '../api/key.ts'
import { isPasswordOffered, isSignInOffered, signIn } from '../api/session.ts'
import { Failure } from '../parts/notice.ts'
import { PasswordSignIn } from '../people/password-forms.ts'

/** Why a sign-in at the provider was refused, by the word that the server puts into the address. */
const REFUSALS: Readonly<Record<string, string>> = {
  provider_unavailable: 'The identity provider does not answer. Keys go on working.',
  sign_in_expired: 'The sign-in took too long, or was begun in another browser. Try again.',
  sign_in_failed:
    'The identity provider did not confirm the sign-in. The log of the server says why.',
  person_unknown: 'You are not invited. Ask an admin of this server.',
  person_removed: 'Your access was removed. Ask an admin of this server.',
  person_without_role: 'You have no role yet. Ask an admin of this server.',
}

function refusal(): string | null {
  const word = new URLSearchParams(location.search).get('sign_in') ?? ''
  return Object.hasOwn(REFUSALS, word) ? (REFUSALS[word] ?? null) : null
}

/** Leads back to the view that asked for it. */
function goToProvider(): void {
  const here = refusal() === null ? location.pathname + location.search : '/'
  location.assign(`/auth/sign-in?return_to=${encodeURIComponent(here)}`)
}

export function SignIn() {
  const [secret, setSecret] = useState('')
  const [failure, setFailure] = useState<string | null>(null)
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const submit = async (event: Event) => {
    event.preventDefault()
    setFailure(await signIn(secret.trim()))
  }
  const hasOther = isSignInOffered.value || isPasswordOffered.value
  return html`<main class="sign-in">
    <h1>Weft</h1>
    ${isSignInOffered.value && html`<p><button class="main" onClick=${goToProvider}>Sign in with your account</button></p>`}
    ${isPasswordOffered.value && html`<${PasswordSignIn} />`}
    <form onSubmit=${submit}>
      <label for="key">API key</label>
      <input
        id="key"
        ref=${field}
        type="password"
        autocomplete="off"
        required
        placeholder="wk_…"
        value=${secret}
        onInput=${(event: InputEvent) => setSecret((event.target as HTMLInputElement).value)}
      />
      <button class=${hasOther ? undefined : 'main'}>Sign in</button>
    </form>
    <${Failure} words=${failure ?? signedOutBecause.value ?? refusal()} />
    <p class="faint">
      The key was printed when the server first started; <code>weft keys create</code> creates another one. It is
      stored only in this tab and those that are opened beside it.
    </p>
  </main>`
}

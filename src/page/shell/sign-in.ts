/** Asks for an API key. */
import { html } from 'htm/preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { signedOutBecause } from '../api/key.ts'
import { signIn } from '../api/session.ts'
import { Failure } from '../parts/notice.ts'

export function SignIn() {
  const [secret, setSecret] = useState('')
  const [failure, setFailure] = useState<string | null>(null)
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const submit = async (event: Event) => {
    event.preventDefault()
    setFailure(await signIn(secret.trim()))
  }
  return html`<main class="sign-in">
    <h1>Weft</h1>
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
      <button class="main">Sign in</button>
    </form>
    <${Failure} words=${failure ?? signedOutBecause.value} />
    <p class="faint">
      The key was printed when the server first started; <code>npm run keys -- create</code> creates another one. It is
      stored only in this tab and those that are opened beside it.
    </p>
  </main>`
}

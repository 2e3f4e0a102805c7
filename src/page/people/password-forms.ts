/** Forms of people who have a password here: to sign in, to set it by a link, to change it. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { changePassword, setPassword, signInByPassword } from '../api/session.ts'
import { clickOnce, textOf, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'

/** As the server demands. */
const CHARS_MIN = 12

export function PasswordSignIn() {
  const [email, setEmail] = useState('')
  const [password, setPasswordText] = useState('')
  const { submit, failure } = useSubmit(() => signInByPassword(email.trim(), password))
  return html`<form onSubmit=${submit} aria-label="Sign in with a password">
    <label for="email">E-mail</label>
    <input id="email" type="email" autocomplete="username" required maxlength="254" value=${email} onInput=${textOf(setEmail)} />
    <label for="password">Password</label>
    <input id="password" type="password" autocomplete="current-password" required maxlength="256" value=${password} onInput=${textOf(setPasswordText)} />
    <button class="main" onClick=${clickOnce}>Sign in with a password</button>
    <${Failure} words=${failure} />
  </form>`
}

/** @param secret - of the link */
export function SetPassword({ secret }: { readonly secret: string }) {
  const [password, setText] = useState('')
  const [again, setAgain] = useState('')
  const { submit, failure } = useSubmit(async () => {
    requireSame(password, again)
    await setPassword(secret, password)
  })
  return html`<main class="sign-in">
    <h1>Set your password</h1>
    <form onSubmit=${submit}>
      <${NewPassword} password=${password} onPassword=${setText} again=${again} onAgain=${setAgain} />
      <button class="main" onClick=${clickOnce}>Set the password and sign in</button>
    </form>
    <${Failure} words=${failure} />
    <p class="faint">The link works once. From now on sign in with your e-mail and this password.</p>
  </main>`
}

export function ChangePassword() {
  const [old, setOld] = useState('')
  const [password, setText] = useState('')
  const [again, setAgain] = useState('')
  const [isDone, setDone] = useState(false)
  const { submit, failure } = useSubmit(async () => {
    setDone(false)
    requireSame(password, again)
    await changePassword(old, password)
    for (const clear of [setOld, setText, setAgain]) clear('')
    setDone(true)
  })
  return html`<form class="card sign-in" aria-label="Change password" onSubmit=${submit}>
    <h2>Password</h2>
    <label for="old">Password so far</label>
    <input id="old" type="password" autocomplete="current-password" required maxlength="256" value=${old} onInput=${textOf(setOld)} />
    <${NewPassword} password=${password} onPassword=${setText} again=${again} onAgain=${setAgain} />
    <button class="main" onClick=${clickOnce}>Change password</button>
    <${Failure} words=${failure} />
    ${isDone && html`<p class="notice" role="status">The password is changed, and all your other sessions are over.</p>`}
  </form>`
}

interface NewPasswordProps {
  readonly password: string
  readonly onPassword: (text: string) => void
  readonly again: string
  readonly onAgain: (text: string) => void
}

function NewPassword({ password, onPassword, again, onAgain }: NewPasswordProps) {
  return html`<label for="new">New password</label>
    <input id="new" type="password" autocomplete="new-password" required minlength=${CHARS_MIN} maxlength="256" value=${password} onInput=${textOf(onPassword)} aria-describedby="rule" />
    <span id="rule" class="faint">At least ${CHARS_MIN} characters.</span>
    <label for="again">New password again</label>
    <input id="again" type="password" autocomplete="new-password" required maxlength="256" value=${again} onInput=${textOf(onAgain)} />`
}

function requireSame(password: string, again: string): void {
  if (password !== again) throw new Error('The two new passwords differ.')
}

/** Invites a person, and shows the link to hand out. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { PersonResponse } from '../../schemas/access/person.ts'
import { requestJson } from '../api/client.ts'
import { CopyButton } from '../parts/copy-button.ts'
import { clickOnce, textOf, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { GrantFields, type GrantText, newGrant, toGrants } from './grant-fields.ts'

interface InviteProps {
  /** Whether the person can sign in with a password. */
  readonly hasPasswords: boolean
  readonly onMade: () => void
}

export function Invite({ hasPasswords, onMade }: InviteProps) {
  const [email, setEmail] = useState('')
  const [texts, setTexts] = useState<readonly GrantText[]>(() => [newGrant()])
  const [made, setMade] = useState<PasswordLink | null>(null)
  const [invited, setInvited] = useState<string | null>(null)
  const { submit, failure } = useSubmit(async () => {
    setMade(null)
    const body = { email: email.trim(), grants: toGrants(texts) }
    const { id } = await requestJson<PersonResponse>('/v1/people', body)
    setInvited(body.email)
    setEmail('')
    if (hasPasswords) setMade(await createLink(id))
    onMade()
  })
  return html`<form class="card new-key" aria-label="Invite a person" onSubmit=${submit}>
    <h2>Invite a person</h2>
    <div class="bar"><label>E-mail<input type="email" required maxlength="254" value=${email} onInput=${textOf(setEmail)} /></label></div>
    <${GrantFields} texts=${texts} onChange=${setTexts} />
    <button class="main" onClick=${clickOnce}>Invite</button>
    <${Failure} words=${failure} />
    ${invited !== null && made === null && html`<p class="notice" role="status">${invited} is invited, and is admitted at the first sign-in with this e-mail. Weft sends no message.</p>`}
    ${made !== null && html`<${Link} link=${made} onClose=${() => setMade(null)} />`}
  </form>`
}

export interface PasswordLink {
  readonly url: string
  readonly expires_at: string
}

/** The password so far and all sessions end. @throws ApiFailure */
export function createLink(id: string): Promise<PasswordLink> {
  return requestJson<PasswordLink>(`/v1/people/${encodeURIComponent(id)}/password_link`, {})
}

interface LinkProps {
  readonly link: PasswordLink
  readonly onClose: () => void
}

export function Link({ link, onClose }: LinkProps) {
  return html`<div class="secret" role="status">
    <p>Hand this link to the person, who sets a password by it. It works once, for 7 days, and is shown only here:</p>
    <pre tabindex="0">${link.url}</pre>
    <${CopyButton} words="Copy the link" text=${link.url} />
    <button type="button" onClick=${onClose}>Done</button>
  </div>`
}

/** What the signed-in user is, and may. */
import { html } from 'htm/preact'
import { caller, hasPassword } from '../api/session.ts'
import { ChangePassword } from './password-forms.ts'

export function Account() {
  const user = caller.value
  if (user === null) return null
  const { svc_username, svc_user_id, scopes, project_patterns } = user
  return html`<h1>${svc_username}</h1>
    <dl class="facts">
      <div><dt>Id</dt><dd>${svc_user_id}</dd></div>
      <div><dt>May</dt><dd>${scopes.join(', ')}</dd></div>
      <div><dt>In</dt><dd>${project_patterns.join(', ')}</dd></div>
    </dl>
    ${hasPassword.value && html`<${ChangePassword} />`}`
}

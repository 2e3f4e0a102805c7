/** Copies a call as a program, its id, or a link to it. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { Call } from '../api/wire.ts'
import { copyText } from '../parts/copy-button.ts'
import { icon } from '../parts/icon.ts'
import { Menu } from '../parts/overlay/menu.ts'
import { pathTo } from '../shell/page-route.ts'
import { completionRequest, LANGUAGES, type SampleRequest, sampleOf } from './code-samples.ts'

interface CopyAsProps {
  readonly project: string
  readonly call: Call
  /** The request that reads the call. */
  readonly reading: Omit<SampleRequest, 'origin'>
}

export function CopyAs(props: CopyAsProps) {
  return html`<${Menu} words="Copy as"><${Choices} ...${props} /><//>`
}

function Choices({ project, call, reading }: CopyAsProps) {
  const [copied, setCopied] = useState<string | null>(null)
  const { origin } = location
  const copy = (name: string, text: string) =>
    copyText(text).then(
      () => setCopied(`${name}: copied`),
      () => setCopied('the browser does not let pages copy'),
    )
  const programs = (
    title: string,
    request: SampleRequest,
  ) => html`<div role="group" aria-label=${title} class="copies">
    <span class="faint">${title}</span>
    ${LANGUAGES.map((language) => html`<button key=${language} onClick=${() => copy(language, sampleOf(language, request))}>${language}</button>`)}
  </div>`
  const isCompletion = Array.isArray(call.inputs.messages)
  return html`
    ${isCompletion && programs('Request to this server', completionRequest(origin, call.inputs))}
    ${programs('Read this call', { origin, ...reading })}
    <div class="copies">
      <button onClick=${() => copy('Link', `${origin}${pathTo(project, 'calls', call.id)}`)}>${icon('link')} Link</button>
      <button onClick=${() => copy('Id', call.id)}>${icon('hash')} Id</button>
    </div>
    <span role="status" class="faint">${copied}</span>`
}

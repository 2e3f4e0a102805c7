/** Settings of a project: how long its calls are kept, and the models without a price. */
import { html } from 'htm/preact'
import { Retention } from './retention.ts'
import { UnpricedModels } from './unpriced.ts'

export function ProjectSettings({ project }: { readonly project: string }) {
  return html`<h1>Project settings</h1>
    <${Retention} key=${project} project=${project} />
    <${UnpricedModels} key=${`unpriced ${project}`} project=${project} />`
}

/** Shown at an address below a project that names no view. */
import { html } from 'htm/preact'
import { pathTo, type ViewProps } from './page-route.ts'

/** @param props - the subject is the part of the address after the project */
export function Unknown({ project, subject }: ViewProps) {
  return html`<h1>There is no such view</h1>
    <p>The address names <code>${subject}</code>, which this page does not have. Choose another view, or go to${' '}
      <a href=${pathTo(project)}>the home of ${project}</a>.</p>`
}

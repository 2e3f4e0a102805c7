/** Shows the differences of two values as a table of path, value before and value after. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { JsonTree } from '../parts/values/json-tree.ts'
import { listTextChanges } from '../parts/values/text-changes.ts'
import { WordDifference } from '../parts/values/word-difference.ts'
import { TextDifference } from './text-difference.ts'
import type { Change } from './value-changes.ts'

/** Number of differences shown before more are requested. */
const SHOWN = 200

interface ChangeListProps {
  readonly changes: readonly Change[]
  /** Of the two values. */
  readonly names?: readonly [string, string]
}

export function ChangeList({ changes, names = ['Before', 'After'] }: ChangeListProps) {
  const [shown, setShown] = useState(SHOWN)
  return html`<div class="table"><table class="changes">
      <thead><tr><th scope="col">Field</th><th scope="col">${names[0]}</th><th scope="col">${names[1]}</th></tr></thead>
      <tbody>${changes.slice(0, shown).map((change) => html`<${ChangeRow} key=${change.path} change=${change} />`)}</tbody>
    </table></div>
    ${changes.length > shown && html`<button onClick=${() => setShown(shown + 10 * SHOWN)}>${changes.length - shown} more differences</button>`}`
}

function ChangeRow({ change }: { readonly change: Change }) {
  const { path, kind, before, after } = change
  const areTexts = typeof before === 'string' && typeof after === 'string'
  const isLong = areTexts && (before.includes('\n') || after.includes('\n'))
  const words = areTexts && !isLong ? listTextChanges(before, after) : null
  return html`<tr class=${kind}>
    <th scope="row"><code>${path === '' ? '(all)' : path}</code> <span class="faint">${kind}</span></th>
    ${
      words !== null
        ? html`<td colspan="2"><${WordDifference} words=${words} /></td>`
        : isLong
          ? html`<td colspan="2"><${TextDifference} before=${before} after=${after} /></td>`
          : html`<td class="before">${kind !== 'added' && html`<${JsonTree} value=${before} />`}</td>
            <td class="after">${kind !== 'removed' && html`<${JsonTree} value=${after} />`}</td>`
    }
  </tr>`
}

/** Adds rows to those that are edited: from a text that one types or pastes. */
import { html } from 'htm/preact'
import { useMemo, useState } from 'preact/hooks'
import { errorText } from '../api/client.ts'
import { formatCount } from '../parts/format.ts'
import { textOf } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { readPastedRows } from './pasted-rows.ts'
import { type RowEdits, withAdded } from './row-edits.ts'

interface AddRowsProps {
  readonly edits: RowEdits
  /** What is typed or pasted and not added yet. */
  readonly text: string
  readonly onType: (text: string) => void
  readonly onChange: (edits: RowEdits) => void
}

export function AddRows({ edits, text, onType, onChange }: AddRowsProps) {
  const [added, setAdded] = useState(0)
  const { rows, failure } = useMemo(() => {
    try {
      return { rows: readPastedRows(text), failure: null }
    } catch (error) {
      return { rows: [], failure: errorText(error) }
    }
  }, [text])
  const [refusal, setRefusal] = useState<string | null>(null)
  const add = () => {
    try {
      onChange(withAdded(edits, rows))
      setAdded(rows.length)
      setRefusal(null)
      onType('')
    } catch (error) {
      setRefusal(errorText(error))
    }
  }
  return html`<section class="part fields" aria-label="Add rows">
    <h2>Add rows</h2>
    <label>JSON (an object, a list of objects, or an object in each line), or CSV with a header, whose cells become texts
      <textarea rows="4" spellcheck=${false} placeholder=${'{"question": "Why?", "expected": "Because."}'} value=${text} onInput=${textOf(onType)}></textarea>
    </label>
    <${Failure} words=${failure ?? refusal} />
    <div class="bar">
      <button type="button" disabled=${rows.length === 0} onClick=${add}>Add ${rows.length === 0 ? 'rows' : countRows(rows.length)}</button>
      <span role="status" class="faint">${added > 0 && text === '' && `${countRows(added)} added below the others`}</span>
    </div>
  </section>`
}

function countRows(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`
}

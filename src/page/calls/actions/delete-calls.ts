/** Deletes the selected calls, after a confirmation with their number. */
import { html } from 'htm/preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { requestJson } from '../../api/client.ts'
import { formatCalls, formatCount } from '../../parts/format.ts'
import { useLoad } from '../../parts/hooks/use-load.ts'
import { clickOnce, useSubmit } from '../../parts/hooks/use-submit.ts'
import { icon } from '../../parts/icon.ts'
import { Failure } from '../../parts/notice.ts'
import { groupsOf, readSelectedIds } from '../selection/selected-calls.ts'
import type { Target } from '../selection/selected-query.ts'

interface DeleteCallsProps {
  readonly target: Target
  readonly onDeleted: () => void
}

export function DeleteCalls(props: DeleteCallsProps) {
  const [isOpen, setOpen] = useState(false)
  return html`<button class="danger" onClick=${() => setOpen(true)}>${icon('trash')} Delete</button>
    ${isOpen && html`<${Confirmation} ...${props} onClose=${() => setOpen(false)} />`}`
}

interface ConfirmationProps extends DeleteCallsProps {
  readonly onClose: () => void
}

function Confirmation({ target, onDeleted, onClose }: ConfirmationProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [deleted, setDeleted] = useState<number | null>(null)
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    // Returns the focus to the button.
    return () => opened?.close()
  }, [])
  const found = useLoad('ids', () => readSelectedIds(target))
  const ids = found.value
  const { submit, failure } = useSubmit(async () => {
    let sum = 0
    for (const call_ids of groupsOf(ids ?? [])) {
      setDeleted(sum)
      await requestJson('/calls/delete', { project_id: target.project, call_ids })
      sum += call_ids.length
    }
    onClose()
    onDeleted()
  })
  const isBusy = deleted !== null && failure === null
  const calls = ids === null ? '… calls' : formatCalls(ids.length)
  const cancel = (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    // Some of the calls may be gone.
    if (deleted !== null) onDeleted()
    onClose()
  }
  return html`<dialog class="confirmation" ref=${dialog} aria-labelledby="delete-title" onCancel=${cancel}>
    <form onSubmit=${submit}>
      <h2 id="delete-title">Delete ${calls}?</h2>
      <p>The calls that they made are deleted with them. This cannot be undone.</p>
      <p role="status">${deleted !== null && ids !== null && `${formatCount(deleted)} of ${calls} deleted`}</p>
      <${Failure} words=${failure ?? found.failure} />
      <div class="bar">
        <span class="push"></span>
        <button type="button" disabled=${isBusy} onClick=${cancel}>Cancel</button>
        <button class="danger" disabled=${ids === null || ids.length === 0 || isBusy} onClick=${clickOnce}>Delete ${calls}</button>
      </div>
    </form>
  </dialog>`
}

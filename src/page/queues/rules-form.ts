/** The rules by which calls are added to a queue, and what they have done. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import type { QueueRules } from '../../schemas/annotation/queue-rules.ts'
import { requestJson } from '../api/client.ts'
import { formatCount } from '../parts/format.ts'
import { clickOnce, useSubmit } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import type { KnownQueue } from './queue-api.ts'
import { type RuleFields, toRuleFields, toRules } from './rule-fields.ts'

interface RulesFormProps {
  readonly project: string
  readonly known: KnownQueue
  readonly onSaved: () => void
}

type FieldEvent = Event & { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }

export function RulesForm({ project, known: { queue, rules_work }, onSaved }: RulesFormProps) {
  const stored = queue.rules as QueueRules | null
  const [fields, setFields] = useState(() => toRuleFields(stored))
  const set =
    (name: keyof RuleFields) =>
    ({ currentTarget }: FieldEvent) => {
      const isBox = currentTarget.type === 'checkbox'
      const value = isBox ? (currentTarget as HTMLInputElement).checked : currentTarget.value
      setFields((last) => ({ ...last, [name]: value }))
    }
  const [saved, setSaved] = useState('')
  const { submit, failure } = useSubmit(async () => {
    setSaved('')
    const path = `/annotation_queues/${encodeURIComponent(queue.id)}`
    const body = { project_id: project, rules: toRules(fields, stored) }
    await requestJson(path, body, { method: 'PUT' })
    setSaved('Saved.')
    onSaved()
  })
  const { added, dropped, waiting } = rules_work
  return html`<form class="card bar filters" aria-label="Rules" onSubmit=${submit}>
    <label class="check"><input type="checkbox" checked=${fields.thumbs} onChange=${set('thumbs')} /> Thumbs down</label>
    <label class="check"><input type="checkbox" checked=${fields.disputed} onChange=${set('disputed')} /> Evaluators disagree</label>
    <label>By at least<input class="short" type="number" min="0" step="any" required value=${fields.difference} disabled=${!fields.disputed} onInput=${set('difference')} /></label>
    <label>Random share, 0 to 1<input class="short" type="number" min="0" max="1" step="any" placeholder="none" value=${fields.random} onInput=${set('random')} /></label>
    <label>Scores, one on each line<textarea rows="2" spellcheck=${false} placeholder="wandb.runnable.helpful < 0.4" value=${fields.scores} onInput=${set('scores')}></textarea></label>
    <label class="check"><input type="checkbox" checked=${fields.roots} onChange=${set('roots')} /> Root calls only</label>
    <label>Calls a day, at most<input class="short" type="number" min="1" max="10000" required value=${fields.perDay} onInput=${set('perDay')} /></label>
    <label>Not rated, at most<input class="short" type="number" min="1" max="100000" required value=${fields.waiting} onInput=${set('waiting')} /></label>
    <button onClick=${clickOnce}>Save the rules</button>
    <span role="status">${saved} ${formatCount(added)} added, ${formatCount(dropped)} left out by a limit, ${formatCount(waiting)} waiting</span>
    <${Failure} words=${failure} />
  </form>`
}

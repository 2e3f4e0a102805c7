/** Rates the calls of a queue one after the other, by keyboard. */
import { html } from 'htm/preact'
import { useMemo, useState } from 'preact/hooks'
import { errorText } from '../api/client.ts'
import { giveFeedback, RATING } from '../api/feedback.ts'
import { caller, may } from '../api/session.ts'
import { Folded } from '../parts/folded.ts'
import { formatCount } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { forgetPersisted, persistedSignal } from '../parts/persisted.ts'
import { Agreement } from '../parts/rating/agreement.ts'
import { query, setQuery } from '../shell/location.ts'
import { pathTo, type ViewProps } from '../shell/page-route.ts'
import { useSubjectName } from '../shell/subject-name.ts'
import { type Draft, EMPTY, givenIn, isEmpty } from './draft.ts'
import { type Claimed, openQueue, type Progress, SKIPPED_MAX } from './queue-api.ts'
import { RatedCall } from './rated-call.ts'
import { RatingPanel } from './rating-panel.ts'
import { RulesForm } from './rules-form.ts'

export function Rate({ project, subject }: ViewProps) {
  const id = subject ?? ''
  const user = caller.value?.svc_user_id ?? null
  const api = useMemo(() => openQueue(project, id, user), [project, id, user])
  const [turn, setTurn] = useState(0)
  const [saved, setSaved] = useState(0)
  const queue = useLoad(id, (signal) => api.readQueue(signal), saved)
  const known = queue.value
  useSubjectName(id, queue.isLoading, known?.queue.name)
  const progress = useLoad(id, (signal) => api.readProgress(signal), turn)
  const next = useLoad(`${turn}`, async (signal) => ({ found: await api.claimNext(signal) }))
  if (!may('traces:write'))
    return html`<h1>${known?.queue.name ?? '…'}</h1><${Failure} words="The key may not rate calls (it lacks traces:write)." />
      <${AgreementPart} project=${project} queue=${id} />`
  const finish = async (claimed: Claimed, draft: Draft | null, onSent: (rest: Draft) => void) => {
    let rest = draft ?? EMPTY
    for (const [part, given] of givenIn(rest)) {
      await giveFeedback({ project, call: claimed.item.call_id, queue: id }, given)
      // Feedback already sent is not sent again when the rest fails.
      rest = { ...rest, [part]: EMPTY[part], isBegun: true }
      onSent(rest)
    }
    await api.finish(claimed.item.id, draft === null ? 'skipped' : 'completed')
    setTurn((last) => last + 1)
  }
  const found = next.isLoading ? undefined : next.value?.found
  return html`<${QueueHead} name=${known?.queue.name ?? (queue.isLoading ? '…' : id)} description=${known?.queue.description ?? ''} progress=${progress.value} />
    <${Failure} words=${queue.failure ?? progress.failure ?? next.failure} />
    ${next.failure !== null && html`<button onClick=${() => setTurn((last) => last + 1)}>Try again</button>`}
    ${found === undefined && next.isLoading && html`<${Loading} />`}
    ${found === null && html`<p class="notice">${progress.value?.total === 0 ? 'Nothing is in this queue yet.' : 'Nothing is left to rate in this queue.'} <a href=${pathTo(project, 'queues')}>All queues</a></p>`}
    ${found && html`<${Rated} key=${found.item.id} project=${project} claimed=${found} onFinish=${finish} />`}
    ${
      known?.queue.queue_type === 'call' &&
      html`<${Folded} title=${known.queue.rules === null ? 'Rules: none' : 'Rules'}>${() => html`<${RulesForm} key=${saved} project=${project} known=${known} onSaved=${() => setSaved((last) => last + 1)} />`}<//>`
    }
    ${known !== null && html`<${AgreementPart} project=${project} queue=${id} />`}`
}

interface AgreementPartProps {
  readonly project: string
  readonly queue: string
}

function AgreementPart({ project, queue }: AgreementPartProps) {
  return html`<${Folded} title="Agreement">${() => html`<${Agreement} project=${project} chosen=${{ queue_id: queue }} />`}<//>`
}

interface QueueHeadProps {
  readonly name: string
  readonly description: string
  readonly progress: Progress | null
}

function QueueHead({ name, description, progress }: QueueHeadProps) {
  return html`<div class="bar">
      <h1>${name}</h1>
      ${
        progress !== null &&
        html`<progress max=${Math.max(progress.total, 1)} value=${progress.done} aria-label="Progress"></progress>
          <span role="status">${wordsOfProgress(progress)}</span>`
      }
    </div>
    ${description !== '' && html`<p>${description}</p>`}`
}

function wordsOfProgress({ done, total, skipped }: Progress): string {
  const words = `${formatCount(done)} of ${formatCount(total)} done`
  if (skipped === 0) return words
  return `${words}, ${skipped >= SKIPPED_MAX ? 'at least ' : ''}${skipped} of them skipped`
}

const NOTHING_GIVEN = 'Nothing is given yet. Give a thumb, a number or a note, or skip the call.'

interface RatedProps {
  readonly project: string
  readonly claimed: Claimed
  /** @param draft - null skips the call */
  readonly onFinish: (
    claimed: Claimed,
    draft: Draft | null,
    onSent: (rest: Draft) => void,
  ) => Promise<void>
}

function Rated({ project, claimed, onFinish }: RatedProps) {
  const kept = ['rating', project, claimed.item.queue_id, claimed.item.id]
  const drafted = useMemo(
    () => persistedSignal(kept, () => ({ ...EMPTY, name: query.value.get('number') ?? RATING })),
    [],
  )
  const draft = drafted.value
  const [failure, setFailure] = useState<string | null>(null)
  const setDraft = (next: Draft) => {
    drafted.value = next
  }
  const change = (next: Draft) => {
    setDraft(next)
    setFailure(null)
    // In the address, so that it is the same for the next call.
    if (next.name !== draft.name) setQuery({ number: next.name === RATING ? null : next.name })
  }
  const [isSending, setSending] = useState(false)
  const finish = async (isSkipped: boolean) => {
    if (isSending) return
    if (!isSkipped && isEmpty(draft)) {
      setFailure(NOTHING_GIVEN)
      return
    }
    setSending(true)
    try {
      await onFinish(claimed, isSkipped ? null : draft, setDraft)
      forgetPersisted(kept)
    } catch (error) {
      setFailure(errorText(error))
      setSending(false)
    }
  }
  return html`<div class="rate">
    <${RatedCall} project=${project} claimed=${claimed} />
    <div class="judgement">
      <${RatingPanel}
        draft=${draft}
        isSending=${isSending}
        onChange=${change}
        onSave=${() => finish(false)}
        onSkip=${() => finish(true)}
      />
      <${Failure} words=${failure} />
    </div>
  </div>`
}

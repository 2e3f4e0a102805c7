/** How far raters agree: measures of each two, tables of their labels, and the calls that they rated differently. */
import { html } from 'htm/preact'
import type {
  AgreementRequest,
  AgreementResponse,
  PairAgreement,
} from '../../../schemas/feedback/agreement.ts'
import { requestJson } from '../../api/client.ts'
import { pathTo } from '../../shell/page-route.ts'
import { formatCalls, formatCount, formatNumber } from '../format.ts'
import { useLoad } from '../hooks/use-load.ts'
import { Failure, Loading } from '../notice.ts'

type Label = boolean | number | string

interface AgreementProps {
  readonly project: string
  /** Whose ratings. */
  readonly chosen: Omit<AgreementRequest, 'project_id'>
  /** Whether only pairs with judges are shown. */
  readonly ofJudges?: boolean
}

export function Agreement({ project, chosen, ofJudges = false }: AgreementProps) {
  const name = JSON.stringify([project, chosen])
  const loaded = useLoad(name, (signal) => {
    const body = { project_id: project, ...chosen }
    return requestJson<AgreementResponse>('/feedback/agreement', body, { signal })
  })
  if (loaded.value === null)
    return loaded.failure === null
      ? html`<${Loading} />`
      : html`<${Failure} words=${loaded.failure} />`
  const { calls, is_complete, types, pairs } = loaded.value
  const shown = pairs.filter(({ right }) => !ofJudges || right.kind === 'judge')
  if (shown.length === 0) {
    return html`<p class="notice">${calls === 0 ? 'Nobody has rated a call yet.' : 'No call was rated by two: there is nothing to compare.'}</p>`
  }
  const many = types.filter(({ raters }) => !ofJudges && raters > 2)
  return html`<p>${formatCalls(calls)} ${calls === 1 ? 'was' : 'were'} rated${is_complete ? '' : ' last; there may be more'}.
      ${many.map(({ feedback_type, raters, alpha }) => html` Krippendorff's alpha among ${raters} people, ${feedback_type}: ${nameMeasure(alpha)}.`)}</p>
    <${PairTable} pairs=${shown} />
    ${shown.map((pair) => html`<${PairDetail} key=${nameOf(pair)} project=${project} pair=${pair} />`)}`
}

interface PairTableProps {
  readonly pairs: readonly PairAgreement[]
  /** Name of each pair, in their order; default: who rates. */
  readonly names?: readonly string[]
}

export function PairTable({ pairs, names = pairs.map(nameOf) }: PairTableProps) {
  return html`<div class="scroll" tabindex="0"><table class="list" aria-label="Agreement">
    <thead><tr>
      <th scope="col">Who</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Agreed</th>
      <th scope="col" class="number">Kappa</th><th scope="col" class="number">Weighted</th><th scope="col" class="number">Mean difference</th>
    </tr></thead>
    <tbody>${pairs.map(
      (pair, index) => html`<tr key=${names[index]}>
        <td class="wrap">${names[index]}</td>
        <td class="number">${formatCount(pair.calls)}</td>
        <td class="number">${pair.calls === 0 ? '–' : `${formatNumber(Math.round((1000 * pair.agreed) / pair.calls) / 10)} %`}</td>
        <td class="number">${nameMeasure(pair.kappa)}</td>
        <td class="number">${nameMeasure(pair.weighted_kappa)}</td>
        <td class="number">${nameMeasure(pair.mean_difference)}</td>
      </tr>`,
    )}</tbody>
  </table></div>`
}

interface PairDetailProps {
  readonly project: string
  readonly pair: PairAgreement
}

function PairDetail({ project, pair }: PairDetailProps) {
  const { left, right, disagreements } = pair
  return html`<details><summary>${nameOf(pair)}: table and differences</summary>
    <${Confusion} pair=${pair} caption=${nameOf(pair)} />
    ${
      disagreements.length > 0 &&
      html`<ul aria-label="Rated differently">${disagreements.map(
        (one) =>
          html`<li key=${one.call_id}><a href=${pathTo(project, 'calls', one.call_id)}>${one.call_id}</a> ${left.name}: ${nameLabel(one.left)}, ${right.name}: ${nameLabel(one.right)}</li>`,
      )}</ul>`
    }
  </details>`
}

interface ConfusionProps {
  readonly pair: PairAgreement
  readonly caption: string
}

export function Confusion({ pair: { left, right, labels, confusion }, caption }: ConfusionProps) {
  if (labels === null || confusion === null)
    return html`<p class="notice">More than 20 different ratings: there is no table of them.</p>`
  return html`<div class="scroll" tabindex="0"><table class="list confusion" aria-label=${`Calls by rating: ${caption}`}>
    <thead><tr><th scope="col">${left.name} ↓ ${right.name} →</th>${labels.map((label) => html`<th key=${label} scope="col" class="number">${nameLabel(label)}</th>`)}</tr></thead>
    <tbody>${labels.map(
      (label, row) =>
        html`<tr key=${label}><th scope="row">${nameLabel(label)}</th>${labels.map(
          (other, column) =>
            html`<td key=${other} class=${row === column ? 'number agreed' : 'number'}>${formatCount(confusion[row]?.[column])}</td>`,
        )}</tr>`,
    )}</tbody>
  </table></div>`
}

function nameOf({ left, right }: PairAgreement): string {
  const type = left.feedback_type.replace('wandb.', '').replace('reaction.1', 'thumbs')
  return `${left.name} and ${right.name}, ${type}`
}

function nameLabel(label: Label): string {
  if (typeof label === 'boolean') return label ? 'pass' : 'fail'
  return typeof label === 'number' ? formatNumber(label) : label
}

function nameMeasure(value: number | null): string {
  return value === null ? '–' : value.toFixed(2).replace('-', '−')
}

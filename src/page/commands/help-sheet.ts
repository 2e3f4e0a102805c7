/** The keys of the page, in a sheet. */
import { html } from 'htm/preact'
import { lastProject } from '../frame/known-projects.ts'
import { linksWithKeys } from '../frame/navigation.ts'
import { icon } from '../parts/icon.ts'
import { Dialog } from '../parts/overlay/dialog.ts'

type Keys = readonly [keys: readonly string[], what: string]

const EVERYWHERE: readonly Keys[] = [
  [['Ctrl', 'K'], 'Search, or go to a view, a project, a call'],
  [['/'], 'Search in the view'],
  [['['], 'Collapse or expand the menu'],
  [['?'], 'These keys'],
  [['Esc'], 'Close what is open'],
]

const IN_VIEWS: readonly Keys[] = [
  [['←', '→'], 'In a chart: the next bucket; with Shift select a range'],
  [['Enter'], 'In a chart: zoom in, or open the calls'],
  [['j', 'k'], 'In a table: the next and the previous row; in a trace over it, call'],
  [['x'], 'In a table: select the row; with Shift those since the last one, too'],
  [['↑', '↓'], 'In a trace: the next row'],
  [['←', '→'], 'In a trace: fold and unfold'],
  [['+', '-'], 'In a queue: rate; a digit is a number, n a note, s skips'],
]

export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
  const views: Keys[] = linksWithKeys(lastProject.value).map(({ key = '', label }) => [
    ['g', key],
    label,
  ])
  return html`<${Dialog} label="Keyboard shortcuts" kind="sheet" onClose=${onClose}>
    <header><h2>Keyboard shortcuts</h2><button class="ghost" aria-label="Close" onClick=${onClose}>${icon('x')}</button></header>
    <div class="key-lists">
      <${KeyList} title="Everywhere" rows=${EVERYWHERE} />
      <${KeyList} title="In a view" rows=${IN_VIEWS} />
      ${views.length > 0 && html`<${KeyList} title="Go to" rows=${views} />`}
    </div>
  </${Dialog}>`
}

function KeyList({ title, rows }: { readonly title: string; readonly rows: readonly Keys[] }) {
  return html`<section><h3>${title}</h3><dl>${rows.map(
    ([keys, what]) =>
      html`<div key=${what}><dt>${keys.map((each) => html`<kbd>${each}</kbd> `)}</dt><dd>${what}</dd></div>`,
  )}</dl></section>`
}

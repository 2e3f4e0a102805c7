/** The legend of a chart, whose labels are buttons that show and hide lines: by default only the mouse works. */
import type uPlot from 'uplot'

/** Creates a label; its clicks reach the plot. */
export function labelButton(label: string): HTMLButtonElement {
  const button = document.createElement('button')
  Object.assign(button, { type: 'button', className: 'quiet', textContent: label })
  button.setAttribute('aria-pressed', 'true')
  return button
}

/** Marks each label with whether its line is shown. */
export function announceSeries({ series }: uPlot): void {
  for (const { label, show } of series)
    if (label instanceof HTMLElement) label.setAttribute('aria-pressed', String(show))
}

/** Reserves width for the longest of the values that each row may show. */
export function reserveWidth(legend: HTMLElement, values: readonly (readonly string[])[]): void {
  for (const [row, cell] of legend.querySelectorAll<HTMLElement>('.u-value').entries()) {
    const longest = (values[row] ?? []).reduce((a, b) => (b.length > a.length ? b : a), '')
    cell.dataset.longest = longest
  }
}

/** Puts the legend into an element. */
export function legendIn(element: HTMLElement): uPlot.Legend {
  return {
    mount(_plot, table) {
      table.setAttribute('role', 'presentation')
      element.append(table)
    },
  }
}

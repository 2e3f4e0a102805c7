/** The open sheet, whose module is loaded when it is first opened. */
import { effect, signal } from '@preact/signals'
import { html } from 'htm/preact'
import type { FunctionComponent } from 'preact'
import { openedSheet, type SheetName } from './open-sheet.ts'

type SheetComponent = FunctionComponent<{ readonly onClose: () => void }>

const LOADERS: Readonly<Record<SheetName, () => Promise<SheetComponent>>> = {
  palette: async () => (await import('./palette.ts')).Palette,
  help: async () => (await import('./help-sheet.ts')).HelpSheet,
}

const shown = signal<readonly [SheetName, SheetComponent] | null>(null)

effect(() => {
  const name = openedSheet.value
  if (name === null) {
    shown.value = null
    return
  }
  const show = (component: SheetComponent) => {
    if (openedSheet.peek() === name) shown.value = [name, component]
  }
  // What cannot be loaded, as the server was updated, opens nothing.
  LOADERS[name]().then(show, () => {
    openedSheet.value = null
  })
})

export function Sheet() {
  if (shown.value === null) return null
  const [name, Component] = shown.value
  const close = () => {
    // Another sheet that was opened from this one stays.
    if (openedSheet.value === name) openedSheet.value = null
  }
  return html`<${Component} key=${name} onClose=${close} />`
}

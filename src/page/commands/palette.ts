/** The command palette: views, projects, calls by their ids, and what can be done everywhere. */
import { html } from 'htm/preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { errorText } from '../api/client.ts'
import { icon } from '../parts/icon.ts'
import { Dialog } from '../parts/overlay/dialog.ts'
import { type Command, commandsFor } from './commands.ts'

const idOf = (index: number) => `command-${index}`

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const [failure, setFailure] = useState<string | null>(null)
  const field = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const commands = commandsFor(text)
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen, text])
  const run = async (command: Command | undefined) => {
    if (command === undefined) return
    try {
      await command.run()
      onClose()
    } catch (error) {
      setFailure(errorText(error))
    }
  }
  const type = (event: InputEvent) => {
    setText((event.target as HTMLInputElement).value)
    setChosen(0)
    setFailure(null)
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined)
      setChosen((chosen + step + commands.length) % Math.max(1, commands.length))
    else if (event.key === 'Enter') void run(commands[chosen])
    else return
    event.preventDefault()
  }
  return html`<${Dialog} label="Search or go to" kind="palette" onClose=${onClose}>
    <div class="palette-field">${icon('search')}<input
      ref=${field} role="combobox" aria-expanded="true" aria-controls="commands" aria-autocomplete="list"
      aria-activedescendant=${commands.length > 0 ? idOf(chosen) : undefined}
      aria-label="A view, a project, the id of a call or a trace" placeholder="A view, a project, the id of a call or a trace …"
      value=${text} onInput=${type} onKeyDown=${press} /><kbd>Esc</kbd></div>
    <div ref=${list} id="commands" class="commands" role="listbox" aria-label="Commands">
      ${commands.map(({ group, label, icon: name, hint }, index) => {
        const isFirst = group !== commands[index - 1]?.group
        return html`${isFirst && html`<div class="command-group" role="presentation" key=${`group ${group}`}>${group}</div>`}
          <div key=${`${group} ${label}`} id=${idOf(index)} class="command" role="option" aria-selected=${index === chosen} onMouseMove=${() => setChosen(index)} onClick=${() => void run(commands[index])}>
            ${icon(name)}<span class="command-label">${label}</span>${hint !== undefined && html`<kbd>${hint}</kbd>`}
          </div>`
      })}
    </div>
    <p class="command-status" role="status">${failure !== null ? html`<span class="bad">${failure}</span>` : commands.length === 0 && 'Nothing has this name.'}</p>
  </${Dialog}>`
}

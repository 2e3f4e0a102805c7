/** What must wait while the mouse is pressed: a row that goes away between press and release is not clicked. */

let isPressed = false
let waiting: (() => void)[] = []

/** Runs at once; or with the click that the press becomes, before all that it does; or after a press that becomes none. */
export function afterPress(run: () => void): void {
  if (isPressed) waiting.push(run)
  else run()
}

function end(): void {
  isPressed = false
  const runs = waiting
  waiting = []
  for (const run of runs) run()
}

addEventListener('mousedown', ({ button }) => (isPressed = button === 0), { capture: true })
addEventListener('click', end, { capture: true })
// The click comes right after the first of them; after the others there is none.
for (const type of ['mouseup', 'dragend', 'contextmenu'])
  addEventListener(type, () => setTimeout(end), { capture: true })

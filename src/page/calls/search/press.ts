/** Defers updates while the mouse is pressed: a row removed between press and release would not get the click. */

let isPressed = false
let waiting: (() => void)[] = []

/** Runs at once; during a press, just before its click is handled, or after a press that becomes no click. */
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
// A click follows only the first of these events.
for (const type of ['mouseup', 'dragend', 'contextmenu'])
  addEventListener(type, () => setTimeout(end), { capture: true })

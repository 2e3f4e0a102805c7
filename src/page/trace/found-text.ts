/** Marks a text wherever it is shown, without changing the document. */
import { useLayoutEffect } from 'preact/hooks'

/** Name in the style sheet. */
const NAME = 'found'
/** Limit: marked places. */
const RANGES_MAX = 1000

/** @param inside - returns the element whose content is marked; it may change at any time */
export function useFoundText(text: string, inside: () => Element | null | undefined): void {
  useLayoutEffect(() => {
    const element = inside()
    // Browsers without it mark nothing.
    if (text === '' || !element || !('highlights' in CSS)) return
    let frame = 0
    const mark = () => {
      frame = 0
      CSS.highlights.set(NAME, new Highlight(...rangesOf(element, text)))
    }
    const observer = new MutationObserver(() => {
      frame ||= requestAnimationFrame(mark)
    })
    observer.observe(element, { subtree: true, childList: true, characterData: true })
    mark()
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
      CSS.highlights.delete(NAME)
    }
  }, [text])
}

/** Ignoring case, as the search does. Where that changes the length of a text, only the exact text is found. */
function rangesOf(element: Element, text: string): Range[] {
  const ranges: Range[] = []
  const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
    const whole = node.nodeValue ?? ''
    const lower = whole.toLowerCase()
    const isSafe = lower.length === whole.length
    const [shown, sought] = isSafe ? [lower, text.toLowerCase()] : [whole, text]
    for (let at = shown.indexOf(sought); at >= 0; at = shown.indexOf(sought, at + sought.length)) {
      if (ranges.length >= RANGES_MAX) return ranges
      const range = new Range()
      range.setStart(node, at)
      range.setEnd(node, at + sought.length)
      ranges.push(range)
    }
  }
  return ranges
}

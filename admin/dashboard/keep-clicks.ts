/** A pointer that moved further than this was drawn away, which takes a press back. */
const SLIP_PX = 8

/**
 * A button that is pressed is clicked, although the page moves it from under the pointer before the release: a list above it
 * has come, a banner has appeared. The browser then reports a click on whatever encloses both places.
 */
export function keepClicks(): void {
  let pressed: { readonly element: HTMLElement; readonly x: number; readonly y: number } | null =
    null
  const options = { capture: true }
  addEventListener(
    'pointerdown',
    ({ target, isPrimary, button, clientX: x, clientY: y }) => {
      const element =
        target instanceof Element ? target.closest<HTMLElement>('button, a, summary') : null
      pressed = element === null || !isPrimary || button !== 0 ? null : { element, x, y }
    },
    options,
  )
  addEventListener(
    'click',
    (event) => {
      const last = pressed
      pressed = null
      if (last === null || !event.isTrusted || !(event.target instanceof Node)) return
      if (last.element.contains(event.target) || !last.element.isConnected) return
      if (Math.hypot(event.clientX - last.x, event.clientY - last.y) > SLIP_PX) return
      event.preventDefault()
      event.stopPropagation()
      last.element.click()
    },
    options,
  )
}

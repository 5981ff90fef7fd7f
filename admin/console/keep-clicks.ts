interface Press {
  readonly element: HTMLElement
  /** Where the element was then. */
  readonly box: DOMRect
}

/**
 * A button that is pressed is clicked, although the page moves it from under the pointer before the release: a list above it
 * has come, a banner has appeared. The browser then reports a click on whatever encloses both places. A press that is drawn off
 * the button, or followed by scrolling, remains taken back.
 */
export function keepClicks(): void {
  let pressed: Press | null = null
  const options = { capture: true }
  addEventListener(
    'pointerdown',
    ({ target, isPrimary, button }) => {
      const element =
        target instanceof Element ? target.closest<HTMLElement>('button, a, summary') : null
      pressed =
        element === null || !isPrimary || button !== 0
          ? null
          : { element, box: element.getBoundingClientRect() }
    },
    options,
  )
  for (const end of ['pointercancel', 'dragstart', 'scroll'])
    addEventListener(end, () => void (pressed = null), options)
  addEventListener(
    'click',
    (event) => {
      const last = pressed
      pressed = null
      // A click by the keyboard has no detail.
      if (last === null || !event.isTrusted || event.detail === 0) return
      if (!(event.target instanceof Node) || last.element.contains(event.target)) return
      if (!hasMovedAway(last, event) || !canBeClicked(last.element)) return
      event.preventDefault()
      event.stopPropagation()
      last.element.dispatchEvent(new MouseEvent('click', event))
    },
    options,
  )
}

/** Whether the element has left its place, and the pointer has not. */
function hasMovedAway({ element, box }: Press, { clientX: x, clientY: y }: MouseEvent): boolean {
  const now = element.getBoundingClientRect()
  return (
    Math.max(Math.abs(now.x - box.x), Math.abs(now.y - box.y)) > 1 &&
    x >= box.left &&
    x <= box.right &&
    y >= box.top &&
    y <= box.bottom
  )
}

/** Whether a pointer could click it: a dialog that has opened meanwhile covers what is not in it. */
const canBeClicked = (element: HTMLElement): boolean =>
  element.checkVisibility({ visibilityProperty: true }) &&
  element.closest('[inert]') === null &&
  !element.matches(':disabled') &&
  [...document.querySelectorAll('dialog[open]')].every((dialog) => dialog.contains(element))

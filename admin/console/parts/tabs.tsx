import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** One of several texts; the arrow keys move between the tabs. */
export function Tabs<T extends string>({
  label,
  names,
  value,
  onValue,
  children,
}: {
  label: string
  names: readonly T[]
  value: T
  onValue: (name: T) => void
  children: ComponentChildren
}) {
  const id = useId()
  const move = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = (names.indexOf(value) + step + names.length) % names.length
    onValue(names[at] ?? value)
    event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[at]?.focus()
  }
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} class="presets" onKeyDown={move}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === value}
            aria-controls={`${id}-panel`}
            tabIndex={name === value ? 0 : -1}
            onClick={() => onValue(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`}>
        {children}
      </div>
    </div>
  )
}

import { useState } from 'preact/hooks'
import { type Theme, theme, THEMES } from '../theme.ts'

const TITLES: Readonly<Record<Theme, string>> = { system: 'System', light: 'Light', dark: 'Dark' }

/** Goes from the scheme of the system to light and dark, and back. */
export function ThemeButton() {
  const [current, setCurrent] = useState<Theme>(theme.value)
  const next = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? 'system'
  return (
    <button
      type="button"
      onClick={() => {
        theme.set(next)
        setCurrent(next)
      }}
    >
      Theme: {TITLES[current]}
    </button>
  )
}

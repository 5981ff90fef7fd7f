const KEY = 'agw_theme'
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const isTheme = (text: string | null): text is Theme => THEMES.some((theme) => theme === text)

/** The scheme of this browser: that of the system unless another was chosen. */
export const theme = {
  get value(): Theme {
    const stored = localStorage.getItem(KEY)
    return isTheme(stored) ? stored : 'system'
  },
  set(value: Theme): void {
    localStorage.setItem(KEY, value)
    theme.apply()
  },
  apply(): void {
    document.documentElement.dataset['theme'] = theme.value
  },
}

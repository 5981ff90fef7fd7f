import type { Via } from '../../core/activity/vias.ts'

const TITLES: Readonly<Record<Via, string>> = {
  forward: 'Forward proxy',
  base_url: 'Base URL',
}

export const VIA_OPTIONS = Object.entries(TITLES)

/** How a call reached the gateway, for people. */
export const viaTitle = (via: string): string =>
  VIA_OPTIONS.find(([name]) => name === via)?.[1] ?? via

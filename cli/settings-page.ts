import { SETTINGS } from '../core/settings.ts'

/** The page docs/settings.md: every setting that is meant for people, from the catalogue. */
export function settingsPage(): string {
  const rows = Object.values(SETTINGS)
    .filter(({ audience }) => audience === 'operator')
    .map((row) => {
      const fallback = typeof row.fallback === 'function' ? row.fallback() : row.fallback
      const standard = row.shown_default ?? (fallback === null ? 'off' : `\`${fallback}\``)
      const later = row.in_force ? '' : ' *Not yet in force.*'
      return `| \`${row.name}\` | ${standard} | ${row.kind.name} | ${row.description}${later} |`
    })
  return `# Settings

All settings are environment variables. One that is wrong stops the start with one message that lists every fault; an
empty one counts as unset. This page is made by \`agw settings\` from \`core/settings.ts\`, and a test fails when it is stale.

| setting | default | value | what it does |
|---|---|---|---|
${rows.join('\n')}
`
}

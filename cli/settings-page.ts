import { SETTINGS } from '../core/settings.ts'

/** The page docs/settings.md: every setting that is meant for people, from the catalogue. */
export function settingsPage(): string {
  const rows = Object.values(SETTINGS)
    .filter(({ audience }) => audience === 'operator')
    .map((row) => {
      const fallback = typeof row.fallback === 'function' ? row.fallback() : row.fallback
      const standard = row.shown_default ?? (fallback === null ? 'off' : `\`${fallback}\``)
      const later = row.in_force ? '' : ' *Not yet in force.*'
      const name =
        row.kind.is_secret === true ? `\`${row.name}\`, \`${row.name}_FILE\`` : `\`${row.name}\``
      return `| ${name} | ${standard} | ${row.kind.name} | ${row.description}${later} |`
    })
  return `# Settings

All settings are environment variables. An invalid setting aborts startup; all errors are listed at once. An empty variable
counts as unset. A secret can also be read from a file: \`…_FILE\` names it, and white space around its content is removed.
Setting both forms is an error. This page is made by \`agw settings\` from \`core/settings.ts\`, and a test fails when it is stale.

| setting | default | value | what it does |
|---|---|---|---|
${rows.join('\n')}
`
}

import { SETTINGS } from '../../core/settings/settings.ts'
import { table } from './table.ts'

/** Every setting that is meant for operators, from the catalogue. */
export function settingsPage(): string {
  const rows = Object.values(SETTINGS)
    .filter(({ audience }) => audience === 'operator')
    .map((row) => {
      const fallback = typeof row.fallback === 'function' ? row.fallback() : row.fallback
      const standard = row.shown_default ?? (fallback === null ? 'not set' : `\`${fallback}\``)
      const name =
        row.kind.is_secret === true ? `\`${row.name}\`, \`${row.name}_FILE\`` : `\`${row.name}\``
      return [name, standard, row.kind.name, row.description]
    })
  return `# Settings

All settings are environment variables. An invalid setting aborts startup; all errors are listed at once. An empty value counts as
unset. A secret can also be read from a file: \`…_FILE\` names it, and white space around its content is removed. Setting both
forms is an error.

${table(['setting', 'default', 'value', 'what it does'], rows)}
`
}

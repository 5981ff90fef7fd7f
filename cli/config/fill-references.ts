import type { Environment } from '../../core/settings/settings.ts'

const REFERENCE = /\$\{([^}]*)\}/g
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

type Filled =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string }

/**
 * The text of a secret with each `${NAME}` replaced by that variable of the environment. A secret without a reference
 * would be in the file in plain text, so it is an error; an empty text is not a secret.
 */
export function fillReferences(value: unknown, env: Environment): Filled {
  const refuse = (message: string): Filled => ({ ok: false, message })
  if (typeof value !== 'string' || (value !== '' && value.search(REFERENCE) < 0))
    return refuse(
      'is a secret and must not be written here: write ${NAME}, and set NAME in the environment',
    )
  const names = [...value.matchAll(REFERENCE)].map(([, name = '']) => name)
  const wrong = names.filter((name) => !NAME.test(name))
  if (wrong.length > 0)
    return refuse(`has \${${wrong[0]}}, which is not the name of an environment variable`)
  const missing = [...new Set(names)].filter((name) => env[name] === undefined)
  if (missing.length > 0)
    return refuse(`requires ${missing.join(', ')}, not set in the environment`)
  return { ok: true, text: value.replace(REFERENCE, (_, name: string) => env[name] ?? '') }
}

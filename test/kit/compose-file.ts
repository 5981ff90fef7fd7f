import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { fromRoot } from '../../core/system/root.ts'

export interface ComposeService {
  readonly image: string
  readonly entrypoint?: readonly string[]
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly user: string
  readonly ports?: readonly string[]
  readonly volumes: readonly string[]
  readonly read_only: boolean
  readonly cap_drop: readonly string[]
  readonly restart: string
  readonly stop_grace_period?: string
  readonly mem_limit?: string
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: readonly string[] }
}

export type ComposeServices = Readonly<Record<string, ComposeService>>

export const COMPOSE_TEXT = readFileSync(fromRoot('docker-compose.yml'), 'utf8')

/**
 * docker-compose.yml with its variables replaced: `${NAME:?why}` and `${NAME:-default}`, which is all the file uses.
 * @throws if a variable without a default is not among the values, or another `$` is in the file
 */
export function composeFile(values: Readonly<Record<string, string>>): {
  readonly services: ComposeServices
} {
  const text = COMPOSE_TEXT.replace(
    /\$\{(\w+):([?-])([^}]*)\}/g,
    (_all, name: string, kind: string, rest: string) => {
      const value = values[name] ?? (kind === '-' ? rest : undefined)
      if (value === undefined) throw new Error(`docker-compose.yml needs ${name}`)
      return value
    },
  )
  // Compose interpolates everything, the scripts of health checks included.
  const other = /^.*\$.*$/m.exec(text)?.[0]
  if (other !== undefined) throw new Error(`Compose refuses this variable: ${other}`)
  const { services, ...rest } = parse(text, { merge: true }) as { services: ComposeServices }
  return { ...rest, services: Object.fromEntries(Object.entries(services).map(withTexts)) }
}

type Scalar = string | number | boolean | null

/** Compose passes numbers to a process as texts, and nothing as an empty one. */
const withTexts = ([name, service]: [string, ComposeService]): [string, ComposeService] => {
  const { environment } = service
  if (environment === undefined) return [name, service]
  const parsed: Readonly<Record<string, Scalar>> = environment
  const texts = Object.entries(parsed).map(([key, value]) => [key, String(value ?? '')])
  return [name, { ...service, environment: Object.fromEntries(texts) }]
}

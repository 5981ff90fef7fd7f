import type { Environment } from '../../core/settings/settings.ts'

/** Without the setting at hand, as on another machine. */
const USUAL_PORT = '8083'

/**
 * The address of the forward proxy with the credentials of an agent.
 * @param given by an option; null: next to the admin API, at the port of the setting
 * @param key null: the text `$AGW_KEY`, which a shell replaces
 */
export function forwardAddress(
  given: string | null,
  admin_url: string,
  env: Environment,
  { agent_id, key }: { readonly agent_id: string; readonly key: string | null },
): string {
  const port = env['AGW_FORWARD_PORT']?.trim() || USUAL_PORT
  const { protocol, host } = new URL(
    given ?? `http://${new URL(admin_url).hostname}:${port === 'off' ? USUAL_PORT : port}`,
  )
  return `${protocol}//${agent_id}:${key ?? '$AGW_KEY'}@${host}`
}

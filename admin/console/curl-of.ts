import { inQuotes } from '../../core/catalogue/templates/snippets.ts'

/**
 * The command that makes a call again through the gateway. Key and proxy address are variables of the shell: the console knows
 * neither. A body and a query are not stored.
 */
export function curlOf(method: string, origin: string, endpoint: string): string {
  return [
    `curl -ig -X ${inQuotes(method)} "$AGW_PROXY_URL"/${inQuotes(origin + endpoint)}`,
    `  -H "Authorization: Bearer $AGW_KEY"`,
  ].join(' \\\n')
}

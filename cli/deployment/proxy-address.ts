import { reachableProxy } from '../../core/catalogue/templates/snippets.ts'
import { type AdminOptions, adminAccess } from './admin-access.ts'
import { callAdmin, messageOf } from './call-admin.ts'

/**
 * Where agents call the gateway, as it says itself. An address of its own machine is that of the admin API, as this machine reaches it.
 * @throws with a message for the operator when the admin API does not answer or refuses
 */
export async function proxyAddress(options: AdminOptions): Promise<string> {
  const answer = await callAdmin(options, 'GET', '/admin/whoami')
  if (answer.status !== 200) throw new Error(messageOf(answer))
  const { proxy_url = USUAL } = answer.body as { readonly proxy_url?: string }
  return reachableProxy(proxy_url, new URL(adminAccess(options).url).hostname)
}

/** Of a version that does not say it. */
const USUAL = 'http://127.0.0.1:8080'

import type { Route } from '../../admin/http/define-route.ts'
import { table } from '../terminal/table.ts'

/** Every call of the admin API and of the webhooks API. */
export const apiPage = (routes: readonly Route[]): string => `# Admin API

Paths below \`/admin\` are at \`{api_url}\` and, unless \`AGW_PROXY_ADMIN\` is \`off\`, at \`{proxy_url}\`; paths below
\`/webhooks\` are at \`{api_url}\` only. Send an admin token as \`Authorization: Bearer\`; the table shows the lowest role that may make the
call. Request and response schemas: \`{api_url}/docs\` and \`{api_url}/openapi.json\`.

${table(
  ['call', 'role', 'what it does'],
  routes.map(({ method, path, role, summary }) => [
    `\`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}\``,
    role,
    summary,
  ]),
)}
`

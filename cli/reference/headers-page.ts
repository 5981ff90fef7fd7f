import { HEADER_GROUPS } from '../../core/catalogue/header-table.ts'
import { table } from '../terminal/table.ts'

/** Every header of a request that is not simply forwarded. */
export const headersPage = (): string => `# Request headers

What the gateway does with a header that an agent, or a proxy in front of the gateway, sends. Every header that is not listed is
forwarded unchanged. The rows hold for every spelling that a server may read as the same name (letter case, \`_\` or another
character instead of \`-\`), for calls by base URL and through the forward proxy, and inside its tunnels. Trailers of a request are
never forwarded. In addition, the header that the credential of the integration fills is replaced, and a header that holds a gateway
key is dropped. A name that ends with \`*\` stands for all that begin so.

- *dropped*: not sent to the API; the call is decided without it.
- *decides*: the decision depends on it. A refusal names it in \`details.override\`.
- *refused*: the call is refused because of it.
- *forwarded*: sent to the API, with the difference that is described.

${table(
  ['header', '', 'why'],
  HEADER_GROUPS.map(({ names, fate, why }) => [
    names.map((name) => `\`${name}\``).join(', '),
    fate,
    why,
  ]),
)}
`

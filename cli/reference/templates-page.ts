import { TEMPLATES } from '../../core/catalogue/templates/all.ts'
import { actionsOf, parametersOf } from '../../core/catalogue/templates/fill-template.ts'
import type { ApiTemplate } from '../../core/catalogue/templates/template.ts'
import { table } from '../terminal/table.ts'

/** Every template, from its file, and how to write one. */
export const templatesPage = (): string => `# Templates

A template is what is known of an API: its base URL, the type of its credential, its further hosts, and what \`read\`, \`write\` and
\`admin\` mean as methods and paths. \`agw add NAME\` and \`template: NAME\` in the file of \`agw apply\`
([guide](../guides/cli.md#well-known-apis-agw-add)) expand it into an ordinary integration and scope; the gateway does not know it.

${table(
  ['template', 'API', 'base URL', 'credential', 'environment', 'actions', 'compared with'],
  TEMPLATES.map(row),
)}

\`npm run bench -- templates\` compares each method and path of the actions with the pinned description.

## Write one

1. Copy a file of \`core/catalogue/templates/\`, name it after the template, and add it to \`all.ts\` there. \`{name}\` in the base URL is a
   parameter; \`secrets\` names the environment variable of each secret member;
   \`oauth\` has the pinned endpoints of a consent and the rights that each action needs.
2. A line of an action is \`METHOD,METHOD /path /path\`, below the base URL, as in a [rule](../guides/scopes.md#scopes). \`read\` neither
   changes nor deletes, \`write\` is what an agent usually does, \`admin\` deletes, pays out, or changes who may do what.
3. \`error_format\` is proposed to the operator, never set silently.
4. Pin the package or wheel that has the API's OpenAPI document or SDK in \`description\`, or say why there is none. Run \`npm run bench --
   templates NAME\`, \`npm run test:unit -- templates\` and \`npm run docs\`.
`

function row(template: ApiTemplate): readonly string[] {
  const { name, title, base_url, auth, oauth, secrets, description, error_format } = template
  const has = actionsOf(template)
  const parameters = parametersOf(template).filter((one) => !base_url.includes(`{${one}}`))
  const more = [...parameters.map((one) => `{${one}}`), ...(auth['name'] ? [auth['name']] : [])]
  return [
    `\`${name}\``,
    `${title}${error_format === undefined ? '' : ` (\`error_format\`: ${error_format})`}`,
    `\`${base_url}\``,
    [[auth.type, ...more], oauth === undefined ? [] : ['oauth2_authorization_code']]
      .flatMap((texts) => (texts.length === 0 ? [] : texts.map((text) => `\`${text}\``).join(' ')))
      .join(' or '),
    Object.values(secrets)
      .map((variable) => `\`${variable}\``)
      .join(', '),
    has.join(', '),
    'none' in description
      ? `nothing: ${description.none}`
      : `\`${description.npm ?? description.pypi ?? ''}\``,
  ]
}

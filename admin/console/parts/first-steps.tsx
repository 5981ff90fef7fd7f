import type { Stats } from '../api-types.ts'
import { linkTo } from '../place.ts'
import { Tag } from './bits.tsx'
import { CopyButton } from './copy-button.tsx'

const CONFIG = `agents:
  - agent_name: my-agent
integrations:
  - name: openai
    base_url: https://api.openai.com/v1
    auth: { type: bearer, token: "\${OPENAI_TOKEN}" }
scopes:
  - name: chat
    agent: my-agent
    integration: openai
    rules:
      - { methods: [GET], paths: [/models] }
`

/** What a new deployment needs until its first call passes; each step turns green when it is done. */
export function FirstSteps({
  stats: { integrations, agents, scopes, activity },
}: {
  stats: Stats
}) {
  if ((activity.by_event['request_allowed'] ?? 0) > 0) return null
  const service = location.origin
  const login = `export AGW_URL=${service} AGW_TOKEN=… OPENAI_TOKEN=…`
  const steps: readonly (readonly [boolean, string, string, string, string])[] = [
    [
      integrations > 0,
      'Add an API',
      linkTo(['integrations']),
      'Its base URL, and the credential that agents never see.',
      `cat > agw.yaml <<'EOF'\n${CONFIG}EOF\n${login}`,
    ],
    [
      agents.active > 0 && scopes > 0,
      'Create an agent with a scope',
      linkTo(['agents']),
      'The scope says which calls the agent may make. The command also writes its key to a file.',
      'npx agw apply -f agw.yaml --keys-out keys',
    ],
    [
      false,
      'Make the first call',
      linkTo(['activity'], { live: '1' }),
      'Through the address of the proxy, with the key of the agent instead of that of the API.',
      `curl -i "$AGW_PROXY_URL"/https://api.openai.com/v1/models -H "Authorization: Bearer $(grep -o 'agw_live_[^"]*' keys)"`,
    ],
  ]
  return (
    <section>
      <h2>First steps</h2>
      <ol class="steps">
        {steps.map(([isDone, title, href, what, command]) => (
          <li key={title} class={isDone ? 'done' : ''}>
            <p>
              <a href={href}>{title}</a> {isDone ? <Tag text="ok" /> : null}
            </p>
            <p class="muted">{what}</p>
            <pre tabIndex={0}>{command}</pre>
            <CopyButton label="Copy" text={command} />
          </li>
        ))}
      </ol>
    </section>
  )
}

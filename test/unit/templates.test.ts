import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { checkEntry } from '../../cli/config/check-entry.ts'
import { readConfig } from '../../cli/config/read-config.ts'
import { proposedFormat } from '../../core/catalogue/error-formats.ts'
import { TEMPLATES } from '../../core/catalogue/templates/all.ts'
import { checkAuth } from '../../admin/integrations/check-auth.ts'
import { consentScope, parametersOf } from '../../core/catalogue/templates/fill-template.ts'
import { TEMPLATE_ACTIONS } from '../../core/catalogue/templates/template.ts'
import { readRule } from '../../core/catalogue/rule-text.ts'
import { secretMembers } from '../../core/credential/catalogue.ts'
import { fromRoot } from '../../core/system/root.ts'

const VALUES: Readonly<Record<string, string>> = {
  url: 'https://mcp.example.com/mcp',
  region: 'eu-central-1',
  site: 'acme',
  access_key_id: 'AKIAEXAMPLE',
}

for (const template of TEMPLATES) {
  const { name, base_url, auth, oauth, secrets, actions, error_format } = template
  test(`the template ${name} makes an integration and scopes that the gateway accepts`, () => {
    assert.ok(existsSync(fromRoot('core', 'catalogue', 'templates', `${name}.ts`)))
    const needed = parametersOf(template)
    assert.deepEqual(needed.toSorted(), Object.keys(template.parameters ?? {}).toSorted())
    const parameters = Object.fromEntries(needed.map((one) => [one, VALUES[one]]))
    const env = Object.fromEntries(Object.values(secrets).map((one) => [one, 'secret-12345678']))
    for (const secret of Object.keys(secrets)) assert.ok(secretMembers(auth.type).includes(secret))
    const entry = needed.length === 0 ? { template: name } : { template: name, parameters }
    const integration = checkEntry('integrations', entry, env)
    assert.deepEqual(integration.issues, [])
    // Proposed, never silent.
    assert.equal(integration.wanted?.['error_format'], 'gateway')
    assert.equal(error_format ?? null, proposedFormat(String(integration.wanted?.['base_url'])))
    for (const action of TEMPLATE_ACTIONS) {
      if (actions[action] === undefined) continue
      const item = { template: name, actions: [action], agent: 'bot', integration: name }
      const scope = checkEntry('scopes', item, {})
      assert.deepEqual(scope.issues, [], action)
      const rules = scope.wanted?.['rules'] as unknown[] | undefined
      assert.equal(rules?.length, actions[action].length)
    }
  })

  if (oauth !== undefined)
    test(`a consent to ${name} asks its own provider for the rights of each action`, () => {
      const { scopes, separator, ...endpoints } = oauth
      const { hostname } = new URL(base_url)
      const type = 'oauth2_authorization_code'
      const given = { type, ...endpoints, client_id: 'id', scope: consentScope(oauth, ['read']) }
      assert.deepEqual(
        checkAuth(given as never, () => false),
        [],
      )
      for (const url of Object.values(endpoints)) assert.equal(new URL(url).hostname, hostname)
      assert.deepEqual(Object.keys(scopes), Object.keys(actions))
      const all = consentScope(oauth, TEMPLATE_ACTIONS).split(separator)
      assert.equal(new Set(all).size, all.length)
      assert.ok(all.every((scope) => /^[\w:.]+$/.test(scope)))
    })

  test(`the action read of ${name} neither deletes nor replaces`, () => {
    for (const text of actions.read ?? [])
      for (const method of readRule(text)?.methods ?? ['none'])
        assert.match(method, /^(?:GET|HEAD|POST)$/, text)
  })
}

test('what is wrong with a template is reported where it is in the file', () => {
  const source = `
integrations:
  - template: githib
  - {template: aws-s3, parameters: {zone: x}}
  - {template: openai, actions: [read]}
scopes:
  - {template: linear, actions: [read, wipe], agent: a, integration: b}
  - {template: github, actions: read, agent: a, integration: b}
agents:
  - {agent_name: a, template: github}
`
  const problems = readConfig(source, {}).problems.map(
    ({ line, member, message }) => `${line} ${member} ${message}`,
  )
  for (const expected of [
    /^3 integrations\[0\]\.template is no template; did you mean github\?/,
    /^4 integrations\[1\]\.parameters\.zone is no parameter/,
    /^4 integrations\[1\]\.parameters must have region: region of the buckets/,
    /^5 integrations\[2\]\.actions belong to a scope/,
    /^7 scopes\[0\]\.actions\[0\] is no action of linear; it has write/,
    /^7 scopes\[0\]\.actions\[1\] is no action of linear/,
    /^8 scopes\[1\]\.actions must be a list of read, write, admin/,
    /^10 agents\[0\]\.template is not a known member/,
  ])
    assert.ok(
      problems.some((problem) => expected.test(problem)),
      `${expected}\n${problems.join('\n')}`,
    )
})

test('members of the entry go before those of the template, and another credential replaces it', () => {
  const own = {
    template: 'openai',
    name: 'mine',
    base_url: 'https://gateway.example.com/openai/v1',
    auth: { type: 'header', name: 'api-key', value: '${KEY}' },
  }
  const { wanted, issues } = checkEntry('integrations', own, { KEY: 'k-12345678' })
  assert.deepEqual(issues, [])
  assert.deepEqual(wanted?.['auth'], { type: 'header', name: 'api-key', value: 'k-12345678' })
  assert.equal(wanted?.['base_url'], own.base_url)
  const unset = checkEntry('integrations', { template: 'openai' }, {})
  assert.match(unset.issues[0]?.message ?? '', /requires OPENAI_API_KEY/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Octokit } from '@octokit/rest'
import { sharedStack } from '../kit/shared-stack.ts'
import { REPOSITORIES } from '../kit/test-upstream/repository-routes.ts'

const stack = await sharedStack()
const access = await stack.operator.makeAccess(stack.origin('repositories'), {
  auth: { type: 'header', name: 'Authorization', value: 'token ghp_stored' },
  rules: [{ methods: ['GET'], paths: ['/orgs/*/repos', '/repos/*/*/git/ref/**'] }],
})
const octokit = new Octokit({
  auth: access.agent.api_key,
  baseUrl: `${stack.proxyUrl}/${access.base_url}`,
})

test('octokit lists with a paging query, its key after "token"', async () => {
  const sent = stack.api.mark()
  const { data, headers } = await octokit.rest.repos.listForOrg({
    org: 'acme',
    per_page: 3,
    page: 2,
    type: 'all',
  })
  assert.deepEqual(
    data.map(({ name }) => name),
    REPOSITORIES.slice(3, 6).map(({ name }) => name),
  )
  // The upstream's own link comes back as it is: it names the upstream, not the gateway.
  assert.match(headers.link ?? '', /repositories\.test.*page=3.*rel="next"/)
  const [call] = sent()
  assert.equal(call?.path, '/orgs/acme/repos?per_page=3&page=2&type=all')
  assert.equal(call?.header('authorization'), 'token ghp_stored')
})

test('octokit sends a path with %2F, which arrives as it is where the scope allows the split path too', async () => {
  const sent = stack.api.mark()
  const { data } = await octokit.rest.git.getRef({
    owner: 'acme',
    repo: 'demo',
    ref: 'heads/feature/x',
  })
  assert.equal(data.ref, 'refs/heads/feature/x')
  assert.deepEqual(
    sent().map(({ path }) => path),
    ['/repos/acme/demo/git/ref/heads%2Ffeature%2Fx'],
  )
})

test('octokit pages through a list by the pages that it counts itself', async () => {
  const names: string[] = []
  for (let page = 1; ; page++) {
    const { data } = await octokit.rest.repos.listForOrg({ org: 'acme', per_page: 3, page })
    names.push(...data.map(({ name }) => name))
    if (data.length < 3) break
  }
  assert.deepEqual(
    names,
    REPOSITORIES.map(({ name }) => name),
  )
})

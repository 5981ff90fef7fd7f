import type { ApiTemplate } from './template.ts'

export const github: ApiTemplate = {
  name: 'github',
  title: 'GitHub',
  base_url: 'https://api.github.com',
  auth: { type: 'bearer' },
  secrets: { token: 'GITHUB_TOKEN' },
  also_hosts: [
    { host: 'codeload.github.com', methods: ['GET'] },
    { host: '*.githubusercontent.com', methods: ['GET'] },
  ],
  actions: {
    read: [
      'GET /repos/*/* /repos/*/*/**',
      'GET /search/** /user /user/repos /users/* /users/*/repos',
      'GET /orgs/* /orgs/*/repos /issues /notifications /rate_limit',
    ],
    write: [
      'POST /repos/*/*/issues /repos/*/*/issues/*/comments /repos/*/*/issues/*/labels',
      'PATCH /repos/*/*/issues/* /repos/*/*/issues/comments/*',
      'POST /repos/*/*/pulls /repos/*/*/pulls/*/reviews /repos/*/*/pulls/*/comments',
      'PATCH /repos/*/*/pulls/*',
      'PUT /repos/*/*/pulls/*/merge',
      'PUT,DELETE /repos/*/*/contents/**',
      'POST /repos/*/*/git/refs /repos/*/*/git/trees /repos/*/*/git/commits /repos/*/*/git/blobs',
      'PATCH /repos/*/*/git/refs/**',
    ],
    admin: [
      'POST /user/repos /orgs/*/repos',
      'PATCH,DELETE /repos/*/*',
      'PUT,DELETE /repos/*/*/collaborators/*',
      'GET,POST /repos/*/*/hooks',
      'PATCH,DELETE /repos/*/*/hooks/*',
      'GET,PUT,DELETE /repos/*/*/branches/*/protection',
      'PUT,DELETE /repos/*/*/actions/secrets/*',
    ],
  },
  words: {
    'PUT /repos/*/*/pulls/*/merge': 'Merge a pull request',
    'POST /repos/*/*/pulls': 'Open a pull request',
    'POST /repos/*/*/issues': 'Open an issue',
    'POST /repos/*/*/issues/*/comments': 'Comment on an issue',
    'PUT /repos/*/*/contents/**': 'Write a file',
    'DELETE /repos/*/*/contents/**': 'Delete a file',
    'PATCH /repos/*/*/git/refs/**': 'Move a branch or tag',
    'POST /user/repos': 'Create a repository',
    'DELETE /repos/*/*': 'Delete a repository',
    'PUT /repos/*/*/collaborators/*': 'Give a person access',
    'DELETE /repos/*/*/branches/*/protection': 'Remove the protection of a branch',
    'PUT /repos/*/*/actions/secrets/*': 'Set a secret',
  },
  description: { npm: '@octokit/openapi@23.0.2', files: 'generated/api.github.com.json' },
}

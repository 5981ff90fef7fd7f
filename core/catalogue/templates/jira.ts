import type { ApiTemplate } from './template.ts'

export const jira: ApiTemplate = {
  name: 'jira',
  title: 'Jira Cloud',
  base_url: 'https://{site}.atlassian.net/rest/api/3',
  parameters: { site: 'name of the site, as in https://NAME.atlassian.net' },
  // The API token is the password; the user name counts as a secret, too.
  auth: { type: 'basic' },
  secrets: { username: 'JIRA_EMAIL', password: 'JIRA_API_TOKEN' },
  actions: {
    read: [
      'GET /issue/* /issue/*/comment /issue/*/transitions /issue/*/changelog /issue/*/worklog',
      'GET /search/jql /project/search /project/* /myself /user /field /status /priority',
      'POST /search/jql',
    ],
    write: [
      'POST /issue /issue/*/comment /issue/*/transitions /issue/*/worklog /issue/*/attachments',
      'PUT /issue/* /issue/*/comment/* /issue/*/assignee',
      'POST /issueLink',
    ],
    admin: [
      'DELETE /issue/* /issue/*/comment/* /issueLink/*',
      'POST /project /version /component',
      'PUT,DELETE /project/*',
    ],
  },
  words: {
    'POST /issue': 'Create an issue',
    'DELETE /issue/*': 'Delete an issue',
    'DELETE /project/*': 'Delete a project',
  },
  description: {
    npm: 'jira.js@5.4.0',
    files: 'dist/esm/version3/*.mjs',
    prefix: '/rest/api/3',
  },
}

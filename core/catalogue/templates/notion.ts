import type { ApiTemplate } from './template.ts'

export const notion: ApiTemplate = {
  name: 'notion',
  title: 'Notion',
  base_url: 'https://api.notion.com/v1',
  auth: { type: 'bearer' },
  secrets: { token: 'NOTION_TOKEN' },
  error_format: 'notion',
  actions: {
    // Searching and querying are reading, by POST.
    read: [
      'GET /pages/* /pages/*/properties/* /blocks/* /blocks/*/children /databases/*',
      'GET /data_sources/* /users /users/* /users/me /comments',
      'POST /search /data_sources/*/query',
    ],
    write: [
      'POST /pages /comments /file_uploads /file_uploads/*/send',
      'PATCH /pages/* /blocks/* /blocks/*/children',
    ],
    admin: [
      'POST /databases /data_sources',
      'PATCH /databases/* /data_sources/*',
      'DELETE /blocks/*',
    ],
  },
  words: {
    'POST /pages': 'Create a page',
    'PATCH /pages/*': 'Change a page',
    'DELETE /blocks/*': 'Delete a block',
  },
  description: {
    npm: '@notionhq/client@5.26.0',
    files: 'build/src/api-endpoints/*.js',
  },
}

import type { ApiTemplate } from './template.ts'

export const anthropic: ApiTemplate = {
  name: 'anthropic',
  title: 'Anthropic',
  base_url: 'https://api.anthropic.com/v1',
  auth: { type: 'header', name: 'x-api-key' },
  secrets: { value: 'ANTHROPIC_API_KEY' },
  error_format: 'anthropic',
  proposed_actions: ['read', 'write'],
  actions: {
    read: [
      'GET /models /models/*',
      'GET /messages/batches /messages/batches/* /messages/batches/*/results',
      'GET /files /files/* /files/*/content',
    ],
    write: [
      'POST /messages /messages/count_tokens',
      'POST /messages/batches /messages/batches/*/cancel',
      'POST /files',
    ],
    admin: ['DELETE /messages/batches/* /files/*'],
  },
  description: {
    npm: '@anthropic-ai/sdk@1.14.0',
    files: 'resources/**/*.mjs',
    prefix: '/v1',
  },
}

import type { ApiTemplate } from './template.ts'

export const openai: ApiTemplate = {
  name: 'openai',
  title: 'OpenAI',
  base_url: 'https://api.openai.com/v1',
  auth: { type: 'bearer' },
  secrets: { token: 'OPENAI_API_KEY' },
  error_format: 'openai',
  proposed_actions: ['read', 'write'],
  actions: {
    read: [
      'GET /models /models/*',
      'GET /files /files/* /files/*/content',
      'GET /responses/* /responses/*/input_items',
      'GET /chat/completions /chat/completions/*',
      'GET /batches /batches/*',
      'GET /vector_stores /vector_stores/*',
    ],
    write: [
      'POST /chat/completions /responses /completions /embeddings /moderations',
      'POST /images/generations /images/edits /images/variations',
      'POST /audio/speech /audio/transcriptions /audio/translations',
      'POST /files /uploads /batches /batches/*/cancel /responses/*/cancel',
      'POST /vector_stores /vector_stores/*/files /vector_stores/*/search',
    ],
    admin: [
      'DELETE /files/* /responses/* /vector_stores/* /models/* /chat/completions/*',
      'GET,POST /fine_tuning/jobs',
      'GET /fine_tuning/jobs/*',
      'POST /fine_tuning/jobs/*/cancel',
    ],
  },
  description: { npm: 'openai@6.49.0', files: 'resources/**/*.mjs' },
}

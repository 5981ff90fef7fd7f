import type { ApiTemplate } from './template.ts'

export const gemini: ApiTemplate = {
  name: 'gemini',
  title: 'Google Gemini',
  base_url: 'https://generativelanguage.googleapis.com/v1beta',
  auth: { type: 'header', name: 'x-goog-api-key' },
  secrets: { value: 'GEMINI_API_KEY' },
  error_format: 'google',
  proposed_actions: ['read', 'write'],
  actions: {
    read: ['GET /models /models/* /files /files/* /cachedContents /cachedContents/*'],
    // The method of a model is part of the last segment: models/NAME:generateContent.
    write: ['POST /models/* /cachedContents', 'PATCH /cachedContents/*'],
    admin: ['DELETE /files/* /cachedContents/* /tunedModels/*', 'GET,POST /tunedModels'],
  },
  description: {
    pypi: 'google-ai-generativelanguage==0.12.1',
    files: 'google/ai/generativelanguage_v1beta/services/**/rest_base.py',
    prefix: '/v1beta',
  },
}
